"""Stock: finding by code, using, taking out, and running out."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional

from ._errors import AmbiguousCode, NotFound
from ._frames import load_pandas, plain_record, table
from ._http import Http
from ._query import filters_to_params, id_of, read_amount, to_body

API = "/api/v2/"
#: Lists whose records have an amount.
STOCK = ("stocks/consumables", "stocks/specimen")
REFERENCES = {"fields": ["*,location__label,unit__name"]}


class Stock:
    """The part of a connection that uses stock."""

    _http: Http

    def find(self, code: str) -> Dict[str, Any]:
        """The record with this barcode, id, first 8 or more digits of an id, or URL of a label.

        Returns
        -------
        dict
            ``segment`` (its list), ``id``, ``name``, ``where``.

        Raises
        ------
        NotFound, AmbiguousCode
        """
        found = self._http.json("GET", f"{API}scan/", params={"code": code})["results"]
        if not found:
            raise NotFound(f"No record that you may view has the code {code!r}.", "not_found", 404)
        if len(found) > 1:
            names = ", ".join(f"{one['name']} ({one['id']})" for one in found[:5])
            raise AmbiguousCode(f"{found[0]['name']} and others have the code {code!r}: {names}. Give the id of one.")
        return found[0]

    def search(self, query: str, limit: int = 5) -> Any:
        """Records of all lists by name, barcode or words, as a table: ``list``, ``id``, ``name``, ``where`` and more."""
        answer = self._http.json("GET", f"{API}search/", params={"q": query, "limit": limit})
        rows = [{"list": group["list"], **one} for group in answer["groups"] for one in group["results"]]
        return table(rows, {}, ("list", "id", "name"), load_pandas())

    def _use(self, barcode: Any, action: str, body: Mapping[str, Any], dry_run: bool) -> Any:
        code = id_of(barcode)
        record = self.find(code)
        if record["segment"] not in STOCK:
            raise NotFound(f"{record['name']} ({code}) is in {record['segment']}, which is no stock.", "not_found", 404)
        params = dict(REFERENCES)
        if dry_run:
            params = {"dry_run": ["1"]}
        if action == "aliquots":
            params.pop("fields", None)
        answer = self._http.json(
            "POST",
            f"{API}{record['segment']}/{record['id']}/{action}/",
            params=params,
            json=to_body({name: value for name, value in body.items() if value is not None}),
            is_repeatable=True,
        )
        return [plain_record(one) for one in answer] if isinstance(answer, list) else plain_record(answer)

    def consume(self, barcode: Any, amount: Any, *, unit: Optional[str] = None, dry_run: bool = False) -> Dict[str, Any]:
        """Takes an amount out of a consumable or specimen. Repeated after a lost connection, it counts once.

        Parameters
        ----------
        barcode : str
            Barcode, id, or URL of the label; also a row of a table.
        amount : float or str
            A number in the unit of the record, or with another unit of the same kind: ``"20 µL"``.

        Returns
        -------
        dict
            The record, with ``amount`` left in ``unit__name``; with ``dry_run`` the preview.

        Raises
        ------
        InvalidRequest
            If less is left, or the unit measures something else.
        """
        number, of = read_amount(amount, unit)
        return self._use(barcode, "consume", {"amount": number, "unit": of}, dry_run)

    def refill(self, barcode: Any, amount: Any, *, unit: Optional[str] = None, dry_run: bool = False, **values: Any) -> Dict[str, Any]:
        """Adds an amount; ``lot``, ``received`` and ``expiry`` (days) are set if they are given."""
        number, of = read_amount(amount, unit)
        return self._use(barcode, "refill", {"amount": number, "unit": of, **values}, dry_run)

    def aliquots(self, barcode: Any, count: int, amount: Any = None, *, dry_run: bool = False, **values: Any) -> List[Dict[str, Any]]:
        """Makes ``count`` aliquots with ``amount`` each, in free slots of ``location``. Returns the new records."""
        number, of = (None, None) if amount is None else read_amount(amount)
        return self._use(barcode, "aliquots", {"count": count, "amount": number, "unit": of, **values}, dry_run)

    def thaw(self, barcode: Any) -> Dict[str, Any]:
        """Counts a cycle of freezing and thawing."""
        return self._use(barcode, "thaw", {}, False)

    def take_out(self, barcode: Any, due_back: Any = None) -> Dict[str, Any]:
        """Notes that you have it, until ``due_back`` (a time; in 24 hours by default). Its slot stays reserved."""
        return self._use(barcode, "take_out", {"due_back": due_back}, False)

    def put_back(self, barcode: Any, *, location: Any = None, position: Optional[str] = None) -> Dict[str, Any]:
        """Notes that it is back, in another ``location`` (id) and ``position`` (such as "B8") if they are given."""
        place = None if location is None else id_of(location)
        return self._use(barcode, "put_back", {"location": place, "position": position}, False)

    def running_out(self, state: Optional[str] = None) -> Any:
        """Stock that is empty, low, expired, or expiring within 30 days, as a table.

        Columns: ``state``, ``name``, ``tubes`` (count), ``left`` and ``minimum`` (in ``unit``), ``expiry`` (day), ``order`` and more.
        """
        params = filters_to_params({} if state is None else {"state": state})
        answer = self._http.json("GET", f"{API}stocks/products/running_out/", params=params)
        types = {"left": "number", "minimum": "number", "expiry": "date", "received": "date"}
        return table(answer["results"], types, ("state", "name", "tubes", "left"), load_pandas())

    def undo(self, batch: str) -> Any:
        """Reverts a change by the id of its batch, as ``lab.batches()`` lists them."""
        return self._http.json("POST", f"{API}batches/{batch}/undo/", json={}, is_repeatable=True)

    def batches(self, limit: int = 50) -> Any:
        """The latest changes as a table, each with a ``sentence`` and its ``id``."""
        answer = self._http.json("GET", f"{API}batches/", params={"page_size": limit})
        return table([plain_record(row) for row in answer["results"]], {}, None, load_pandas())
