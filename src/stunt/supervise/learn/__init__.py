"""Pre-conditions learned from trials."""
