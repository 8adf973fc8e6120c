"""Measuring what Stunt costs, in ratios within one run."""
