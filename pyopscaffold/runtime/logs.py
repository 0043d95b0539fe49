"""Log lines: JSON with zap's keys, as controller-runtime's operators write, or plain text for people."""

from __future__ import annotations

import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, TextIO

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping

LogFormat = Literal["json", "text"]

_LEVELS = {"WARNING": "warn", "CRITICAL": "fatal"}


class FieldsAdapter(logging.LoggerAdapter[logging.Logger]):
    """A logger whose lines carry fields; ``extra`` of a call adds to them."""

    def process(self, msg: Any, kwargs: MutableMapping[str, Any]) -> tuple[Any, MutableMapping[str, Any]]:
        """See logging.LoggerAdapter."""
        kwargs["extra"] = {"fields": {**(self.extra or {}), **kwargs.get("extra", {})}}
        return msg, kwargs


class JsonFormatter(logging.Formatter):
    """One JSON object a line: level, ts, logger, msg, the fields, error and stacktrace."""

    def format(self, record: logging.LogRecord) -> str:
        """See logging.Formatter."""
        line = {
            "level": _LEVELS.get(record.levelname, record.levelname.lower()),
            "ts": _time(record),
            "logger": record.name,
            "msg": record.getMessage(),
            **_fields(record),
        }
        return msgspec.json.encode(line, enc_hook=str).decode()


class TextFormatter(logging.Formatter):
    """Time, level, message and the fields as ``key=value``; a stack follows on its own lines."""

    def format(self, record: logging.LogRecord) -> str:
        """See logging.Formatter."""
        fields = _fields(record)
        stack = fields.pop("stacktrace", "")
        fields.pop("object", None)  # its parts are there too
        pairs = "".join(f" {key}={value}" for key, value in fields.items())
        line = f"{_time(record)} {record.levelname:<7} {record.name}: {record.getMessage()}{pairs}"
        return f"{line}\n{stack}" if stack else line


def configure(*, format: LogFormat = "json", level: str = "info", stream: TextIO | None = None) -> None:  # noqa: A002 - the flag's name
    """Send all logging of the process to ``stream`` (stderr) in this form, and nowhere else."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter() if format == "json" else TextFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    logging.captureWarnings(capture=True)


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    found: Mapping[str, Any] = getattr(record, "fields", {})
    fields = dict(found)
    if record.exc_info and record.exc_info[1] is not None:
        error = record.exc_info[1]
        fields["error"] = f"{type(error).__name__}: {error}"
        fields["stacktrace"] = "".join(traceback.format_exception(error)).rstrip()
    return fields
