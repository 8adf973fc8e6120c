"""The door for scripts: text or plain data comes in, checked frozen values go on; every complaint names its line."""
