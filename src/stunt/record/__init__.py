"""What came out: takes, reports, pictures."""
