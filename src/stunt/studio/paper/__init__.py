"""What a document lies on: files on disk, and the numbers its items are known by."""
