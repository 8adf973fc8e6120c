"""Trajectories of joints and sites, followed by the adaptive law."""
