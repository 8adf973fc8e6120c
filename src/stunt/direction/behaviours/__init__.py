"""Behaviours: dynamic controllers that keep a character up, catch it, let it fall well and get it up again."""
