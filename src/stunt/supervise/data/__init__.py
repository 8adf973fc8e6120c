"""Controllers that play data, and their twins that follow it by forces."""
