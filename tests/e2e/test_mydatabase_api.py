"""The example's API, as operator practice asks for it; what it does with it is tested on an API server."""

from __future__ import annotations

import yaml

from tests.e2e.mydatabase_cluster import EXAMPLE


def test_its_api_is_the_one_of_operator_practice() -> None:
    """Replicas 1 to 10, version 14 unless set, short name db, status and scale; the reconciler has five seconds."""
    crd = yaml.safe_load((EXAMPLE / "config/crd/bases/example.com_mydatabases.yaml").read_text())
    assert (crd["metadata"]["name"], crd["spec"]["scope"]) == ("mydatabases.example.com", "Namespaced")
    assert (crd["spec"]["names"]["kind"], crd["spec"]["names"]["shortNames"]) == ("MyDatabase", ["db"])
    (version,) = crd["spec"]["versions"]
    assert (version["name"], set(version["subresources"])) == ("v1", {"status", "scale"})
    spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    replicas = spec["replicas"]
    assert (replicas["type"], replicas["minimum"], replicas["maximum"]) == ("integer", 1, 10)
    assert (spec["version"]["type"], spec["version"]["default"]) == ("string", "14")
    assert "timeout=5.0" in (EXAMPLE / "mydatabase/controllers/my_database.py").read_text()
