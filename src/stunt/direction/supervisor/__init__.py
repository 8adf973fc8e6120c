"""The supervisor: who is in charge of a character, and why (P2)."""
