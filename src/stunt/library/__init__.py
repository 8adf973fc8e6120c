"""Clips and bodies by name or file: read, checked and built once."""
