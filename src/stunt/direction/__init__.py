"""Who is in control: scripts, performers, and how their beats went."""
