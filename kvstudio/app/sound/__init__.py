"""What the Audio panel is made of: the samples so far, how they are drawn, played and exported."""
