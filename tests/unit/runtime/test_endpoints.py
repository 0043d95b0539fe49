"""What an operator serves, over real connections: named checks, certificates, and metrics for those who may."""

from __future__ import annotations

import asyncio
import ssl
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest

from pyopscaffold.errors import ConnectionFailed, UserError
from pyopscaffold.runtime.access import IDENTITY_KEPT, NO_KEPT, YES_KEPT, Guard
from pyopscaffold.runtime.clock import ManualClock
from pyopscaffold.runtime.health import Checks, bind, serving
from pyopscaffold.runtime.serving import Request
from pyopscaffold.runtime.tls import context_of, self_signed_context
from tests.unit.runtime.client.guarded import Authority

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

    from pyopscaffold.runtime.health import Endpoint
    from pyopscaffold.runtime.serving import Answer


@asynccontextmanager
async def served(endpoints: Mapping[str, Endpoint], tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """Serve on loopback for the length of a block; gives the URL."""
    listener = bind("127.0.0.1:0", flag="--flag")
    assert listener is not None
    with listener:
        async with serving(listener, endpoints, tls=tls):
            yield f"{'https' if tls else 'http'}://127.0.0.1:{listener.getsockname()[1]}"


async def get(url: str, *, token: str = "", method: str = "GET") -> tuple[int, str]:
    """Ask; certificates are not verified."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with aiohttp.ClientSession() as session, session.request(method, url, headers=headers, ssl=False) as answer:
        return answer.status, await answer.text()


async def hello(_: Any) -> Answer:
    """Answer everybody."""
    return 200, "text/plain", b"hello\n"


async def test_checks_by_name() -> None:
    """All checks are asked at once or one by its name; verbose, and when one fails, each is told with its reason."""
    reasons = {"cache": "", "database": ""}

    def broken() -> str:
        raise OSError("no route")

    checks = {name: lambda name=name: reasons[name] for name in reasons}
    async with served({"/readyz": Checks("/readyz", checks)}) as url:
        assert await get(f"{url}/readyz") == (200, "ok\n")
        assert await get(f"{url}/readyz?verbose") == (200, "[+]cache ok\n[+]database ok\nreadyz check passed\n")
        assert await get(f"{url}/readyz/cache") == (200, "ok\n")
        assert (await get(f"{url}/readyz/other"))[0] == 404
        reasons["cache"] = "waiting for widgets"
        failed = "[-]cache failed: waiting for widgets\n"
        assert await get(f"{url}/readyz") == (500, f"{failed}[+]database ok\nreadyz check failed\n")
        assert await get(f"{url}/readyz/cache") == (500, f"{failed}readyz check failed\n")
        assert await get(f"{url}/readyz/database") == (200, "ok\n")
    async with served({"/readyz": Checks("/readyz", {"database": broken})}) as url:
        assert await get(f"{url}/readyz") == (500, "[-]database failed: no route\nreadyz check failed\n")


class Certificates:
    """A folder with a certificate and key that an authority renews."""

    def __init__(self, folder: Path) -> None:
        self.certificate, self.key = folder / "tls.crt", folder / "tls.key"
        self.authority = Authority()

    def renew(self, name: str) -> None:
        """Write the next certificate, for this host."""
        pair = self.authority.issue(name)
        for path, content in ((self.certificate, pair.certificate), (self.key, pair.key)):
            fresh = path.with_suffix(".new")
            fresh.write_bytes(content)
            fresh.replace(path)  # as the kubelet swaps what a Pod has mounted

    async def shown(self, url: str, name: str) -> str:
        """Connect, with the name in the handshake or (empty) without, and give the host that the certificate names."""
        trusting = ssl.create_default_context(cadata=self.authority.certificate.decode())
        trusting.check_hostname = False
        trusting.verify_flags &= ~ssl.VERIFY_X509_STRICT
        port = int(url.rpartition(":")[2])
        _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trusting, server_hostname=name or "127.0.0.1")
        subject = dict(pair for part in writer.get_extra_info("peercert")["subject"] for pair in part)
        writer.close()
        await writer.wait_closed()
        return str(subject["commonName"])


@pytest.mark.parametrize("name", ["metrics.example", ""])
async def test_a_renewed_certificate_is_used_at_once(
    tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The next handshake shows what the files hold by then; those that do not fit are logged, and the last serve."""
    caplog.set_level("INFO")
    files = Certificates(tmp_path)
    files.renew("first")
    async with served({"/metrics": hello}, context_of(files.certificate, files.key)) as url:
        assert await files.shown(url, name) == "first"
        files.renew("second")
        assert await files.shown(url, name) == "second"
        files.key.write_bytes(files.authority.issue("third").key)
        assert await files.shown(url, name) == "second"
        assert await files.shown(url, name) == "second"
        files.certificate.unlink()
        assert await files.shown(url, name) == "second"
        files.renew("fourth")
        assert await files.shown(url, name) == "fourth"
    said = [record.message for record in caplog.records if record.name == "pyopscaffold.tls"]
    assert [line.partition(" the last one serves on")[1] != "" for line in said] == [False, True, True, False]


def test_without_a_certificate_serving_does_not_begin(tmp_path: Path) -> None:
    """Files that are not there are a mistake in set-up that names them."""
    with pytest.raises(UserError, match=r"tls.crt and .*tls.key: No such file"):
        context_of(tmp_path / "tls.crt", tmp_path / "tls.key")


async def test_self_signed_certificate() -> None:
    """Without a certificate one is made up, for clients that verify none."""
    async with served({"/metrics": hello}, self_signed_context()) as url:
        assert await get(f"{url}/metrics") == (200, "hello\n")


def test_self_signed_certificate_needs_cryptography(monkeypatch: pytest.MonkeyPatch) -> None:
    """An image without the extra says what to do."""
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(UserError) as raised:
        self_signed_context()
    assert "--metrics-cert-path" in (raised.value.hint or "")


class Reviewer:
    """An API server that knows tokens and who may read what; counts what it is asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.allowed = {"prometheus"}
        self.down = False

    async def create(self, review: dict[str, Any], *, field_manager: str) -> dict[str, Any]:
        """See Writer."""
        if self.down:
            raise ConnectionFailed("no answer")
        self.asked.append(review)
        spec = review["spec"]
        if review["kind"] == "TokenReview":
            name = spec["token"].removeprefix("token-of-")
            known = name != spec["token"]
            return {
                "status": {"authenticated": known, **({"user": {"username": name, "groups": ["g"]}} if known else {})}
            }
        return {"status": {"allowed": spec["user"] in self.allowed}}


async def test_metrics_are_for_those_who_may() -> None:
    """401 without a token that the API server knows, 403 without the permission for path and verb, else the answer."""
    reviewer = Reviewer()
    guard = Guard(hello, reviewer, clock=ManualClock())  # type: ignore[arg-type]  # creates only
    async with served({"/metrics": guard}) as url:
        assert (await get(f"{url}/metrics"))[0] == 401
        assert (await get(f"{url}/metrics", token="unknown"))[0] == 401
        assert await get(f"{url}/metrics", token="token-of-ada") == (403, "ada may not read /metrics\n")
        assert await get(f"{url}/metrics", token="token-of-prometheus") == (200, "hello\n")
    spec = reviewer.asked[-1]["spec"]
    assert spec == {"user": "prometheus", "groups": ["g"], "nonResourceAttributes": {"path": "/metrics", "verb": "get"}}


async def test_reviews_are_kept_for_a_while() -> None:
    """An identity is asked for once a minute, known or not, a yes every five minutes, a no every half minute."""
    reviewer, clock = Reviewer(), ManualClock()
    guard = Guard(hello, reviewer, clock=clock)  # type: ignore[arg-type]  # creates only
    async with served({"/metrics": guard}) as url:

        async def kinds_asked(name: str) -> list[str]:
            before = len(reviewer.asked)
            await get(f"{url}/metrics", token="unknown" if name == "nobody" else f"token-of-{name}")
            return [review["kind"] for review in reviewer.asked[before:]]

        both = ["TokenReview", "SubjectAccessReview"]
        assert await kinds_asked("prometheus") == await kinds_asked("ada") == both
        assert await kinds_asked("nobody") == both[:1]
        assert await kinds_asked("prometheus") == await kinds_asked("ada") == await kinds_asked("nobody") == []
        clock.advance(NO_KEPT)
        assert (await kinds_asked("prometheus"), await kinds_asked("ada")) == ([], both[1:])
        clock.advance(IDENTITY_KEPT - NO_KEPT)
        assert await kinds_asked("prometheus") == await kinds_asked("nobody") == both[:1]
        clock.advance(YES_KEPT)
        assert await kinds_asked("prometheus") == both


async def test_strangers_are_reviewed_a_few_at_a_time() -> None:
    """A flood of tokens leaves the client free for other requests, and those known are not asked for again for it."""
    reviewer, known = Reviewer(), {"authorization": "Bearer token-of-prometheus"}
    guard = Guard(hello, reviewer, clock=ManualClock())  # type: ignore[arg-type]  # creates only
    under_way, most = 0, 0
    create = reviewer.create

    async def slow(review: dict[str, Any], *, field_manager: str) -> dict[str, Any]:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0)
        under_way -= 1
        return await create(review, field_manager=field_manager)

    reviewer.create = slow
    assert (await guard(Request("GET", "/metrics", {}, known)))[0] == 200
    flood = [Request("GET", "/metrics", {}, {"authorization": f"Bearer {number}"}) for number in range(1500)]
    assert {answer[0] for answer in await asyncio.gather(*map(guard, flood))} == {401}
    assert most == 8
    before = len(reviewer.asked)
    assert (await guard(Request("GET", "/metrics", {}, known)))[0] == 200
    assert len(reviewer.asked) == before


async def test_nobody_reads_metrics_that_nobody_can_vouch_for(caplog: pytest.LogCaptureFixture) -> None:
    """When the API server can't be asked the answer is 500, and no token stands in the log."""
    reviewer = Reviewer()
    reviewer.down = True
    guard = Guard(hello, reviewer, clock=ManualClock())  # type: ignore[arg-type]  # creates only
    async with served({"/metrics": guard}) as url:
        assert (await get(f"{url}/metrics", token="token-of-prometheus"))[0] == 500
    assert "no answer" in caplog.text
    assert "token-of-prometheus" not in caplog.text
