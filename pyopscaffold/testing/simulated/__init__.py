"""A simulated cluster: the real controllers and scheduler of Kubernetes, on nodes that kwok plays."""
