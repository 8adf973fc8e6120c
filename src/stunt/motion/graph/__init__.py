"""Motion graphs: clips cut into pieces that follow one another, and walks along drawn paths through them."""
