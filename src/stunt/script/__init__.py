"""The script language: how a scene and its performance are written down, read, checked and played."""
