"""Scaffold, generate, lint and run Kubernetes operators in Python.

Author's vocabulary: :mod:`pyopscaffold.api` (types and markers) and :mod:`pyopscaffold.runtime` (reconcilers).
"""

__version__ = "0.1.0"
