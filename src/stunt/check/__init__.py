"""What a body is, what is wrong with it, and whether it can be moved."""
