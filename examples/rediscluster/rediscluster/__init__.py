"""A Kubernetes operator for example.com."""
