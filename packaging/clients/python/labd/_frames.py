"""Tables: DataFrames if pandas is installed, otherwise lists of dicts."""

from __future__ import annotations

import csv
import io
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence

Row = Dict[str, Any]


def load_pandas() -> Any:
    """The module, or None."""
    try:
        import pandas
    except ImportError:
        return None
    return pandas


def plain(value: Any) -> Any:
    """The value of a property, which some fields have as an object with name, value and category."""
    if isinstance(value, dict) and value.keys() == {"name", "value", "category"}:
        return value["value"]
    return value


def plain_record(record: Mapping[str, Any]) -> Row:
    return {name: plain(value) for name, value in record.items()}


def table(rows: Sequence[Mapping[str, Any]], types: Mapping[str, str], columns: Optional[Iterable[str]], pandas: Any) -> Any:
    """Rows as a table.

    types : kinds of values by column: ``text``, ``number``, ``integer``, ``boolean``, ``date`` (days),
        ``time`` (UTC), ``reference``, ``object``
    columns : columns in their order; those of the rows may be others
    """
    if pandas is None:
        return [dict(row) for row in rows]
    frame = pandas.DataFrame(list(rows), columns=None if rows else list(columns or types))
    if rows and columns:
        first = [name for name in columns if name in frame.columns]
        frame = frame[first + [name for name in frame.columns if name not in first]]
    for name in frame.columns:
        kind = types.get(name)
        if kind in ("date", "time"):
            frame[name] = to_times(frame[name], kind, pandas)
        elif kind == "number":
            frame[name] = pandas.to_numeric(frame[name])
        elif kind == "integer":
            frame[name] = pandas.to_numeric(frame[name]).astype("Int64")
        elif kind == "boolean":
            frame[name] = frame[name].astype("boolean")
    return frame


def to_times(values: Any, kind: str, pandas: Any) -> Any:
    # From version 2, pandas expects the format of the first value of all, unless it is told that fractions may be left out.
    options = {"format": "ISO8601"} if int(pandas.__version__.split(".")[0]) >= 2 else {}
    try:
        return pandas.to_datetime(values, utc=kind == "time", **options)
    except (ValueError, OverflowError):
        # pandas has times from 1678 to 2262 only.
        return values


CELLS: Dict[str, Callable[[str], Any]] = {
    "number": float,
    "integer": int,
    "boolean": lambda cell: cell in ("yes", "true"),
    "text": str,
}


def read_tsv(text: str, types: Mapping[str, str]) -> List[Row]:
    """The rows of a table of matches. Cells without a value are None; lines of provenance are left out."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    reader = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    convert = {name: CELLS[types.get(name, "text")] for name in reader.fieldnames or ()}
    return [{name: None if cell == "" else convert[name](cell) for name, cell in row.items()} for row in reader]


def tsv_columns(text: str) -> List[str]:
    return next((line.split("\t") for line in text.splitlines() if not line.startswith("#")), [])


def csv_bytes(frame: Any) -> bytes:
    """A DataFrame, or a list of dicts, as a CSV file."""
    if hasattr(frame, "to_csv"):
        return frame.to_csv(index=False).encode()
    rows = list(frame)
    names = list(dict.fromkeys(name for row in rows for name in row))
    out = io.StringIO()
    writer = csv.DictWriter(out, names)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()
