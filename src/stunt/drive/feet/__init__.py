"""Feet: when they stand, where they land, how legs bring them there."""
