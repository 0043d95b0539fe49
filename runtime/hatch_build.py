"""Take the runtime's share of ``pyopscaffold/`` into its wheel and sdist."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class RuntimeShare(BuildHookInterface[Any]):
    """Include the modules that ``[tool.hatch.build.hooks.custom]`` lists.

    Not for an editable install: hatchling would copy what is included into site-packages, where it hides the tree.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the sources to ``build_data``, wherever they lie."""
        if version != "standard":
            return
        root = Path(self.root)
        home = root if (root / "pyopscaffold").is_dir() else root.parent
        for module in self.config["modules"]:
            path = f"pyopscaffold/{module}"
            build_data["force_include"][str(home / path)] = path
