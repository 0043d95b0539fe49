"""Let the controllers know new kinds at once.

kube-controller-manager looks for new kinds every 30 seconds, and tries again ever more rarely what failed meanwhile:
the children of an object whose CRD has only just been installed may outlive it by a minute. Tests and first steps meet
this all the time. A fresh kube-controller-manager knows all kinds, and is there in a second, so it is started anew.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from pyopscaffold.errors import ClientError, EnvtestError
from pyopscaffold.testing.discovery import discover, list_metadata

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyopscaffold.testing.rest import RestClient

_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_EVERY_SECONDS = 0.5


class KindWatch:
    """Calls ``renew`` in a thread when CRDs have come and are served; it looks at the server through ``client``."""

    def __init__(self, client: RestClient, renew: Callable[[], None]) -> None:
        self._client = client
        self._renew = renew
        self._known = self._installed()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="kind-watch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread; ``renew`` does not run any more afterwards."""
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopping.wait(_EVERY_SECONDS):
            try:
                installed = self._installed()
                if installed <= self._known:
                    self._known = installed
                elif installed <= self._served():
                    self._known = installed
                    self._renew()
            except ClientError:
                continue
            except EnvtestError:
                break  # the cluster was stopped from outside
        self._client.close()

    def _installed(self) -> frozenset[str]:
        """Names of the CRDs, such as ``widgets.example.com``."""
        return frozenset(item["metadata"]["name"] for item in list_metadata(self._client, _CRDS, resourceVersion="0"))

    def _served(self) -> frozenset[str]:
        return frozenset(f"{found.plural}.{found.group}" for found in discover(self._client))
