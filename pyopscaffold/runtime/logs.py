"""Log lines: JSON with zap's keys, as controller-runtime's operators write, or plain text for people."""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, TextIO, TypeAlias

import msgspec

from pyopscaffold.api import Object

if TYPE_CHECKING:
    from collections.abc import MutableMapping

LogFormat = Literal["json", "text"]
Fields: TypeAlias = Callable[[], Mapping[str, str]]
"""Gives fields that every line has, such as the trace that it belongs to."""

LEVELS = ("debug", "info", "warning", "error")
_OF_EVERY_RECORD = frozenset({*vars(logging.makeLogRecord({})), "message", "asctime", "fields"})
_SHOWN = {"WARNING": "warn", "CRITICAL": "fatal"}


class FieldsAdapter(logging.LoggerAdapter[logging.Logger]):
    """A logger whose lines carry fields; ``extra`` of a call adds to them."""

    def process(self, msg: Any, kwargs: MutableMapping[str, Any]) -> tuple[Any, MutableMapping[str, Any]]:
        """See logging.LoggerAdapter."""
        kwargs["extra"] = {"fields": {**(self.extra or {}), **kwargs.get("extra", {})}}
        return msg, kwargs


class _Formatter(logging.Formatter):
    def __init__(self, more: Fields | None = None) -> None:
        super().__init__()
        self._more = more

    def fields(self, record: logging.LogRecord) -> dict[str, Any]:
        """Return what the caller gave as ``extra``, what an exception says, and what every line has."""
        found: Mapping[str, Any] = getattr(record, "fields", None) or _extra(record)
        fields = {key: _public(value) for key, value in found.items()}
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            fields["error"] = f"{type(error).__name__}: {error}"
            fields["stacktrace"] = "".join(traceback.format_exception(error)).rstrip()
        if self._more is not None:
            fields |= self._more()
        return fields


class JsonFormatter(_Formatter):
    """One JSON object a line: level, ts, logger, msg, the fields, error and stacktrace."""

    def format(self, record: logging.LogRecord) -> str:
        """See logging.Formatter."""
        line = {
            "level": _SHOWN.get(record.levelname, record.levelname.lower()),
            "ts": _time(record),
            "logger": record.name,
            "msg": record.getMessage(),
        }
        for key, value in self.fields(record).items():
            line[f"{key}_" if key in line else key] = value
        return msgspec.json.encode(line, enc_hook=str).decode()


class TextFormatter(_Formatter):
    """Time, level, message and the fields as ``key=value``; a stack follows on its own lines."""

    def format(self, record: logging.LogRecord) -> str:
        """See logging.Formatter."""
        fields = self.fields(record)
        stack = fields.pop("stacktrace", "")
        fields.pop("object", None)  # its parts are there too
        pairs = "".join(f" {key}={value}" for key, value in fields.items())
        line = f"{_time(record)} {record.levelname:<7} {record.name}: {record.getMessage()}{pairs}"
        return f"{line}\n{stack}" if stack else line


def configure(
    *,
    format: LogFormat = "json",  # noqa: A002 - the flag's name
    level: str = "info",
    stream: TextIO | None = None,
    more: Fields | None = None,
) -> None:
    """Send all logging of the process to ``stream`` (stderr) in this form, and nowhere else; see levels_of."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter(more) if format == "json" else TextFormatter(more))
    logging.getLogger().handlers[:] = [handler]
    for name, wanted in levels_of(level).items():
        logging.getLogger(name).setLevel(wanted.upper())
    logging.captureWarnings(capture=True)


def levels_of(text: str) -> dict[str, str]:
    """Read ``info,my.logger=debug``: the level of each logger by name, that of all others under ''.

    Raises:
        ValueError: a level is none.

    """
    levels = {"": "info"}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, level = part.rpartition("=")
        if level.lower() not in LEVELS:
            raise ValueError(f"{level!r} is no level: {', '.join(LEVELS)}")
        levels[name.strip()] = level.lower()
    return levels


def _extra(record: logging.LogRecord) -> dict[str, Any]:
    """Return what a plain logger was given as ``extra``, which logging puts among the record's own attributes."""
    attributes = vars(record)
    return {key: attributes[key] for key in attributes.keys() - _OF_EVERY_RECORD}


def _public(value: Any) -> Any:
    """Return what a line may show of a field: which object it is, never what a Secret keeps."""
    if isinstance(value, Object):
        return {"kind": value.kind, "namespace": value.metadata.namespace, "name": value.metadata.name}
    if isinstance(value, Mapping):
        if value.get("kind") == "Secret" and isinstance(metadata := value.get("metadata"), Mapping):
            return {"kind": "Secret", "namespace": metadata.get("namespace", ""), "name": metadata.get("name", "")}
        return {key: _public(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_public(inner) for inner in value]
    return value


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
