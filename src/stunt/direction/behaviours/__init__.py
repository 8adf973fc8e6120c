"""Behaviours: dynamic controllers that keep a character up, catch it, let it fall well and bring it back on its feet."""
