"""The reconcilers."""
