"""Progress of long work on standard error: a bar on terminals and in notebooks, lines where it is asked for."""

from __future__ import annotations

import sys
import time
from typing import Optional

WIDTH = 30
#: Seconds between two looks at work, at first and at most.
POLL = (0.05, 2.0)
#: Shorter work shows nothing.
SILENT_SECONDS = 0.5


def in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    return shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell"


class Progress:
    """Shows how far work is.

    Parameters
    ----------
    title : str
        Names the work.
    shown : bool or None
        True shows it everywhere, False nowhere, None on terminals and in notebooks.
    """

    def __init__(self, title: str, shown: Optional[bool] = None):
        self._title = title
        self._is_live = sys.stderr.isatty() or in_notebook()
        self._is_shown = self._is_live if shown is None else shown
        self._is_asked = shown is True
        self._started = time.monotonic()
        self._tenth = -1
        self._length = 0

    def __enter__(self) -> Progress:
        return self

    def at(self, fraction: float, text: str = "") -> None:
        """Shows a fraction from 0 to 1, and what happens."""
        if not self._is_shown:
            return
        if not self._is_asked and time.monotonic() - self._started < SILENT_SECONDS:
            return
        fraction = min(max(fraction, 0.0), 1.0)
        done = int(fraction * WIDTH)
        line = f"{self._title} [{'#' * done}{'.' * (WIDTH - done)}] {fraction:4.0%} {text}".rstrip()
        if self._is_live:
            sys.stderr.write("\r" + line.ljust(self._length))
            self._length = len(line)
        elif int(fraction * 10) > self._tenth:
            self._tenth = int(fraction * 10)
            sys.stderr.write(line + "\n")
        sys.stderr.flush()

    def __exit__(self, *exc: object) -> None:
        if self._length:
            sys.stderr.write("\n")
            sys.stderr.flush()
