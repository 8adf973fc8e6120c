"""Sections of a part, one way of moving each: how they are read, written and started."""
