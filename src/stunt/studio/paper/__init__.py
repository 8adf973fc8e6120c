"""The document: its text, edits of it, what a timeline shows of it, the files it lies in, its items' numbers."""
