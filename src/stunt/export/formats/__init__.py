"""Writers, one file format each: the registry of `stunt.export` names their modules."""
