from __future__ import annotations

import os
import sys
from pathlib import Path

from hypothesis import settings

# uv, hadolint and pyopscaffold are those of this environment, whether or not it is activated.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])

# `make test` runs us, and a make that a test starts is no part of that one.
for variable in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):
    os.environ.pop(variable, None)

# How long one example takes says something about the machine, which others use too, and nothing about the code.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
