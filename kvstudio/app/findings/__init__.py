"""What is wrong with a recording, as the window shows it: the list, the chain, the marks."""
