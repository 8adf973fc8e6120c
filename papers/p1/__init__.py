"""Adaptation and impacts."""
