"""The stage as a program sees it: who is on it, what they do, and the take that comes of it."""
