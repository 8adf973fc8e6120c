"""Readers and writers of motion files, one format per module; `registry` knows them all."""
