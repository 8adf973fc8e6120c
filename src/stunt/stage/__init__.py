"""The scene, its physics, and the one loop that steps it."""
