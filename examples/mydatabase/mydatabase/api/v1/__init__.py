"""Version v1 of example.com."""
