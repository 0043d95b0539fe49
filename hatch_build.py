"""Build hooks of the tool's distribution; runtime/hatch_build.py has those of the runtime's."""

from __future__ import annotations

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface


class Templates(BuildHookInterface[Any]):
    """Ship ``templates/`` within the package, where an installed tool finds them.

    Not for an editable install: hatchling would copy them into site-packages, where they go stale unseen.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the templates to a wheel; the sdist has them as they lie, whatever .gitignore says."""
        if version == "standard":
            inside = {"wheel": "pyopscaffold/_templates", "sdist": "templates"}[self.target_name]
            build_data["force_include"]["templates"] = inside


class SameVersion(MetadataHookInterface):
    """Depend on the runtime of the very same version, besides what pyproject.toml lists."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill in ``dependencies``."""
        metadata["dependencies"] = [f"pyopscaffold-runtime=={metadata['version']}", *self.config["dependencies"]]
