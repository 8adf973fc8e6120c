"""Tension."""
