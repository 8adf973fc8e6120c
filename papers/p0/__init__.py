"""On the Beat."""
