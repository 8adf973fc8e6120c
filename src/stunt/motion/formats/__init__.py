"""Readers and writers of motion files, one format per module; `stunt.library.read.read_clip` is the door to all."""
