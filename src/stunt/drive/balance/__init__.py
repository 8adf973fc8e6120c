"""Who carries the body: support, and what keeps it upright."""
