"""Many jobs: what a job is, and the machinery that runs them here, in many processes or on a cluster."""
