"""APIs."""
