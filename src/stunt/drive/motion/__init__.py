"""Motions of one body: its coordinates, poses and frames as servo and data take them."""
