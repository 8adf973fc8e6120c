"""Who is in charge of a character: the contract of controllers, and the supervisor that chooses."""
