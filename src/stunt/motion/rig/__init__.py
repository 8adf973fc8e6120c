"""Bodies made of a clip's skeleton, and clips carried over to other bodies."""
