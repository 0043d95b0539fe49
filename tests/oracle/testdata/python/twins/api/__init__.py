"""One module a theme."""
