"""Version v1 of orders.example.com."""
