from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyopscaffold.testing import ApiServer, RestClient


@pytest.fixture
def admin(api_server: ApiServer) -> Iterator[RestClient]:
    """Give an all-powerful client of the shared API server that does not depend on the client under test."""
    client = api_server.client()
    yield client
    client.close()
