"""The adaptive law: joints and sites on trajectories under loads nobody knows."""
