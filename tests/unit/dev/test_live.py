from __future__ import annotations

import io

from rich.console import Console

from pyopscaffold.dev.lines import Line
from pyopscaffold.dev.live import Live
from pyopscaffold.dev.objects import Row


def test_lines_stand_above_the_objects() -> None:
    """On a terminal, what happens scrolls by above the objects, and brackets in texts are no markup."""
    shown = io.StringIO()
    row = Row("Shop", "default/shop", "Ready=True", "AllPodsReady: 3 of 3")
    with Live(Console(file=shown, force_terminal=True, width=100, color_system=None)) as screen:
        screen.objects((row,), "shop is running")
        screen.log(Line(time="12:00:00", level="info", message="[bold]scaled[/bold]", fields="replicas=3"))
        screen.log(Line(message="printed"))
        screen.fail("it broke", "mend it")
    last = shown.getvalue().rpartition("it broke")[2]
    assert "12:00:00 info  [bold]scaled[/bold]  replicas=3" in shown.getvalue()
    assert "hint: mend it" in last
    assert "shop is running" in last
    assert "Shop  default/shop  Ready=True  AllPodsReady: 3 of 3" in last


def test_many_objects_leave_room_for_lines() -> None:
    """On a low terminal, objects that are not ready are shown first, and the others counted."""
    shown = io.StringIO()
    rows = [Row("Shop", f"default/shop-{number}", f"Ready={number != 30}", "") for number in range(40)]
    console = Console(file=shown, force_terminal=True, width=100, height=20, color_system=None)
    with Live(console) as screen:
        screen.objects(rows, "shop is running")
    assert shown.getvalue().index("shop-30 ") < shown.getvalue().index("shop-0 ")
    assert "and 30 more" in shown.getvalue()
