"""Dynamo."""
