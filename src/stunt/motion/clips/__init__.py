"""Clips: frames of a skeleton, what its joints are, how large a person it is, and where the floor was."""
