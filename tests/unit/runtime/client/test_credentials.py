"""Credentials that are given, or lie in files that others rotate."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pyopscaffold.errors import KubeconfigError
from pyopscaffold.runtime.client.config import ClusterConfig
from pyopscaffold.runtime.client.credentials import Credential, credentials_of
from pyopscaffold.runtime.clock import ManualClock

if TYPE_CHECKING:
    from pathlib import Path

_CONFIG = ClusterConfig(server="https://example.com")


async def test_token_file_vanishes_for_a_moment(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """While a token file is being rotated the last token serves; a file that never was is an error."""
    clock = ManualClock()
    path = tmp_path / "token"
    credentials = credentials_of(replace(_CONFIG, token_file=path), clock)
    with pytest.raises(KubeconfigError, match="token can't be read: No such file"):
        await credentials.current()
    path.write_text("t\n")
    assert (await credentials.current()).token == "t"
    path.unlink()
    clock.advance(61)
    assert (await credentials.current()).token == "t"
    path.write_text("")
    clock.advance(61)
    assert (await credentials.current()).token == "t"
    assert "it is empty" in caplog.text


async def test_token_beside_a_token_file(tmp_path: Path) -> None:
    """A token given beside the file serves until the file can be read, which then wins: so does client-go."""
    clock = ManualClock()
    credentials = credentials_of(replace(_CONFIG, token="given", token_file=tmp_path / "token"), clock)
    assert (await credentials.current()).token == "given"
    (tmp_path / "token").write_text("from the file")
    clock.advance(60)
    assert (await credentials.current()).token == "from the file"


async def test_certificates_are_read_again(tmp_path: Path) -> None:
    """Certificate, key and CA are read each minute, and after a refusal at once; unchanged, they stay what they are."""
    clock = ManualClock()
    files = {name: tmp_path / name for name in ("certificate", "key", "ca")}
    for name, path in files.items():
        path.write_text(f"{name} 1")
    config = replace(
        _CONFIG, client_certificate_file=files["certificate"], client_key_file=files["key"], ca_file=files["ca"]
    )
    credentials = credentials_of(config, clock)
    first = await credentials.current()
    assert first == Credential(certificate=b"certificate 1", key=b"key 1", ca=b"ca 1")
    files["ca"].write_text("ca 2")
    assert await credentials.current() is first, "less than a minute ago"
    clock.advance(60)
    second = await credentials.current()
    assert second == replace(first, ca=b"ca 2")
    clock.advance(60)
    assert await credentials.current() is second
    files["key"].write_text("key 2")
    assert credentials.refused(second)
    assert (await credentials.current()).key == b"key 2"


async def test_fixed_token() -> None:
    """A token out of a kubeconfig is what it is: asking again brings no other."""
    credentials = credentials_of(replace(_CONFIG, token="t"), ManualClock())
    credential = await credentials.current()
    assert credential == Credential(token="t")
    assert not credentials.refused(credential)
