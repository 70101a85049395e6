"""The painting ground: hatches, icons, code images and slot strips, independent of recordings."""
