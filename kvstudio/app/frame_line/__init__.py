"""What the Frames panel is made of: the frames so far in columns, and a time line of them."""
