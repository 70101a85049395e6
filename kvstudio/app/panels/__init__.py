"""One file per dock of the window; panels do not know each other."""
