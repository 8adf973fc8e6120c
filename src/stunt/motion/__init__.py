"""What should happen: poses and paths, as pure data."""
