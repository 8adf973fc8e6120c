"""On one's own feet: what a clip asks of the ground, made feasible before a body follows it."""
