"""Version v1alpha1 of cache.example.com."""
