"""Values of parameters."""

from __future__ import annotations

import datetime
import re
from typing import Any, Dict, List, Mapping, Tuple

AMOUNT = re.compile(r"^\s*([+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d+)?)\s*(.*?)\s*$")


def to_text(value: Any) -> str:
    """A value as the server reads it: days and times as ISO 8601, periods from today as ``30d``."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.timedelta):
        return f"{value.days}d"
    if isinstance(value, datetime.datetime) or hasattr(value, "to_pydatetime"):
        return value.isoformat()
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, Mapping) and "id" in value:
        return str(value["id"])
    return str(value)


def is_several(value: Any) -> bool:
    return isinstance(value, (list, tuple, set, frozenset)) or (hasattr(value, "tolist") and hasattr(value, "shape"))


def filters_to_params(filters: Mapping[str, Any]) -> Dict[str, List[str]]:
    """Parameters of a list. None means records without a value; several values are alternatives."""
    params: Dict[str, List[str]] = {}
    for name, value in filters.items():
        if value is None:
            params[f"{name}__isnull"] = ["true"]
        elif is_several(value):
            params[name] = [to_text(one) for one in (value.tolist() if hasattr(value, "tolist") else value)]
        elif name in ("fields", "ordering"):
            params[name] = [value]
        else:
            params[name] = [to_text(value)]
    for name in ("fields", "ordering"):
        if name in params:
            params[name] = [",".join(params[name])]
    return params


def to_body(values: Mapping[str, Any]) -> Dict[str, Any]:
    """Values of a record as JSON."""
    return {name: to_json(value) for name, value in values.items()}


def to_json(value: Any) -> Any:
    if hasattr(value, "item") and not hasattr(value, "items"):
        value = value.item()
    # NaN and NaT of DataFrames.
    if value is not None and not is_several(value) and not isinstance(value, (dict, str)) and value != value:
        return None
    if isinstance(value, (datetime.date, datetime.datetime, datetime.timedelta)):
        return to_text(value)
    if is_several(value):
        return [to_json(one) for one in value]
    if isinstance(value, Mapping):
        return {str(name): to_json(one) for name, one in value.items()}
    return value


def read_amount(amount: Any, unit: Any = None) -> Tuple[float, Any]:
    """Number and unit of an amount such as ``20`` or ``"20 µL"``; the unit is None without one."""
    if isinstance(amount, str):
        found = AMOUNT.match(amount)
        if not found:
            raise ValueError(f"{amount!r} is not an amount. Give a number, or a text such as '20 µL'.")
        return float(found[1].replace(",", ".")), unit or found[2] or None
    return float(amount), unit


def id_of(record: Any) -> str:
    """The id of a record, a row of a table, or an id."""
    if isinstance(record, str):
        return record
    try:
        return str(record["id"])
    except (TypeError, KeyError, IndexError):
        return str(record)
