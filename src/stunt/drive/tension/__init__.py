"""Poses with tension: what is asked for, and who does it."""
