"""Hybrid supervision."""
