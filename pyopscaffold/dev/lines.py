"""An operator's JSON log lines as short text for people."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

_SHOWN_OTHERWISE = {"level", "ts", "logger", "msg", "controller", "object", "namespace", "name", "reconcileID"}


@dataclass(frozen=True, kw_only=True)
class Line:
    """One log line; ``level`` is empty for what is no log line, such as the output of ``print``."""

    time: str = ""
    level: str = ""
    about: str = ""
    message: str
    fields: str = ""
    stack: str = ""

    def __str__(self) -> str:
        head = " ".join(filter(None, (self.time, f"{self.level:<5}" if self.level else "", self.about, self.message)))
        text = f"{head}  {self.fields}" if self.fields else head
        return f"{text}\n{self.stack}" if self.stack else text


def parse(text: str) -> Line:
    """Read a line that the runtime wrote as JSON; any other is its own message."""
    try:
        said: Any = json.loads(text)
        time = datetime.fromisoformat(said["ts"]).astimezone().strftime("%H:%M:%S")
        message, level = str(said["msg"]), str(said["level"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return Line(message=text)
    about = "/".join(filter(None, (said.get("namespace"), said.get("name"))))
    stack = str(said.pop("stacktrace", ""))
    others = {key: value for key, value in said.items() if key not in _SHOWN_OTHERWISE}
    return Line(
        time=time,
        level=level,
        about=about,
        message=message,
        fields=" ".join(f"{key}={value}" for key, value in others.items()),
        stack="\n".join(f"  {line}" for line in stack.splitlines()),
    )
