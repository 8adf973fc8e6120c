"""The papers' figures, drawn from fresh runs."""
