"""The papers' figures and experiments from fresh runs: `stunt figures` draws them in a checkout."""
