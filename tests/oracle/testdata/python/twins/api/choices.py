"""Fields of which some are set."""

from __future__ import annotations

from dataclasses import dataclass

from pyopscaffold.api import Object, at_least_one_of, at_most_one_of, cel, exactly_one_of, resource


@cel("!has(self.fast) || !has(self.password)", message="fast ones take no password")
@exactly_one_of("bucket", "volume", "host_path")
@at_most_one_of("fast", "cheap")
@at_most_one_of("key_file", "password")
@dataclass(kw_only=True)
class Target:
    """Where a backup goes."""

    bucket: str | None = None
    volume: str | None = None
    host_path: str | None = None
    fast: bool | None = None
    cheap: bool | None = None
    key_file: str | None = None
    password: str | None = None


@at_least_one_of("first", "second")
@at_least_one_of("third", "fourth")
@dataclass(kw_only=True)
class BackupSpec:
    """What a backup is."""

    first: Target | None = None
    second: Target | None = None
    third: list[Target] | None = None
    fourth: dict[str, str] | None = None


@resource(group="choices.example.com", version="v1")
@dataclass(kw_only=True)
class Backup(Object):
    """A backup."""

    spec: BackupSpec
