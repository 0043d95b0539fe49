from __future__ import annotations

from hypothesis import settings

# How long one example takes says something about the machine, which others use too, and nothing about the code.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
