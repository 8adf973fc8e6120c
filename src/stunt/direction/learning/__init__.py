"""Learned pre-conditions: from which states a controller succeeds, found out by trying."""
