"""What ``init`` and ``create`` make: options are checked, templates rendered, the result is a plan."""
