"""Poses on the beat: what is asked for, whether it can be done, and who does it."""
