"""Rotations, flat memory and compiled functions: maths that knows nothing of bodies."""
