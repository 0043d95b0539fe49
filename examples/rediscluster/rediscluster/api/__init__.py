"""The types of the APIs."""
