"""An API server in memory, for unit tests of operators that need no binaries and take no time.

It speaks the API's own protocol, so the client, cache, controllers and manager of the runtime run on it as they are. Of
the real server it has: get, list (selectors, pages), watch (bookmarks, streaming lists, 410), create, update with
conflicts, JSON and merge patches, server-side apply with field managers, status and scale, finalizers, preconditions,
dry run, garbage collection, the end of namespaces; CRDs prune, default and validate by their schema. Built-in kinds are
neither defaulted nor validated, save their metadata, and no controller gives them a status.

What it does not do raises :class:`NotSimulatedError`: strategic merge patches, CEL rules, conversion, kinds of
Kubernetes that ``pyopscaffold.kube.builtin`` does not name, lists of an exact version, subresources but status and
scale. Nobody is forbidden anything: there are no roles, quotas or admission webhooks.
"""

from __future__ import annotations

from pyopscaffold.testing.fake.cluster import FakeCluster, UnsettledError
from pyopscaffold.testing.fake.failure import NotSimulatedError
from pyopscaffold.testing.fake.transport import Asked

__all__ = ["Asked", "FakeCluster", "NotSimulatedError", "UnsettledError"]
