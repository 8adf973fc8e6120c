"""Speeds of Stunt in ratios: `stunt bench` runs them in a checkout."""
