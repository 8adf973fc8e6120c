"""Strings that pull a body's sites together, and its own muscles, which carry what they can."""
