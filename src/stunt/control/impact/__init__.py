"""Collisions in two stages: impulses first, then contact forces."""
