"""What was read from a project's own code, frozen; the input of every generator."""
