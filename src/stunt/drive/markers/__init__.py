"""Bodies under capture markers: fitted to them, and pulled by strings that are solved together."""
