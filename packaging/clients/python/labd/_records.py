"""Lists of records of the inventory."""

from __future__ import annotations

import os
import time
from typing import Any, ClassVar, Dict, Iterator, List, Mapping, Optional, Tuple, Union

from ._errors import InvalidRequest, WorkFailed
from ._frames import csv_bytes, load_pandas, plain_record, table
from ._http import Http
from ._progress import POLL, Progress
from ._query import filters_to_params, id_of, to_body

PAGE = 1000
#: Longer queries are sent in the body.
LONGEST_QUERY = 4000
API = "/api/v2/"


class Records:
    """A list of records, which you call to get a table: ``lab.consumables(model_type="ANTIBODY")``.

    Filters are ``field=value`` or ``field__lookup=value`` with the lookups ``exact``, ``iexact``, ``contains``,
    ``icontains``, ``startswith``, ``istartswith``, ``endswith``, ``iendswith``, ``gt``, ``gte``, ``lt``, ``lte``, ``in`` and
    ``isnull``; ``__`` also follows references: ``location__label="Box 1"``. Several values are alternatives, None
    means records without a value. Days may be counted from today: ``expiry__lte="30d"``.
    """

    path: ClassVar[str] = ""
    one: ClassVar[str] = "a record"
    #: Kinds of values by field.
    types: ClassVar[Mapping[str, str]] = {}
    #: Fields of tables, with the names of references such as ``location__label``.
    shown: ClassVar[Tuple[str, ...]] = ()
    #: True if a creation that is sent twice counts once.
    is_repeatable: ClassVar[bool] = True

    def __init__(self, http: Http, progress: Optional[bool] = None):
        self._http = http
        self._progress = progress

    @property
    def _address(self) -> str:
        return f"{API}{self.path}/"

    def _one(self, record: Any) -> str:
        return f"{self._address}{id_of(record)}/"

    def __call__(self, *, limit: Optional[int] = None, fields: Any = None, **filters: Any) -> Any:
        """The matching records as a table, one row for each.

        Parameters
        ----------
        limit : int, optional
            At most so many records; all by default. Pages are fetched as they are needed.
        fields : list of str, optional
            Columns, also across references (``location__unique_path``) and of annotations
            (``annotations__clonality``).
        ordering : str or list of str, optional
            Fields to order by; ``-`` reverses.
        **filters
            Filters and other parameters of the list, such as ``query``, ``mine``, ``deleted`` or ``as_of``.

        Returns
        -------
        pandas.DataFrame or list of dict
            Shape (records, fields). Days and times are datetime64, without a value NaT.
        """
        rows = list(self.iterate(limit=limit, fields=fields, **filters))
        columns = fields.split(",") if isinstance(fields, str) else fields
        return table(rows, self.types, columns or self.shown, load_pandas())

    def iterate(self, *, limit: Optional[int] = None, fields: Any = None, **filters: Any) -> Iterator[Dict[str, Any]]:
        """The matching records as dicts, one after the other. Arguments as above."""
        size = PAGE if limit is None else min(PAGE, max(limit, 1))
        params = filters_to_params({"fields": list(self.shown) if fields is None else fields, **filters})
        count = 0
        page = 1
        with Progress(f"Reading {self.path}", self._progress) as progress:
            while limit is None or count < limit:
                answer = self._page({**params, "page": [str(page)], "page_size": [str(size)]})
                for record in answer["results"]:
                    if limit is not None and count >= limit:
                        return
                    count += 1
                    yield plain_record(record)
                progress.at(count / max(1, min(answer["total"], limit or answer["total"])), f"{count} records")
                if answer["next"] is None:
                    return
                page += 1

    def _page(self, params: Dict[str, List[str]]) -> Any:
        length = sum(len(name) + len(value) + 2 for name, values in params.items() for value in values)
        if length <= LONGEST_QUERY:
            return self._http.json("GET", self._address, params=params)
        body = {name: values[0] if len(values) == 1 else values for name, values in params.items()}
        return self._http.json("POST", f"{self._address}search/", json=body, is_repeatable=True)

    def count(self, **filters: Any) -> int:
        """Number of matching records that you may view."""
        params = {**filters_to_params(filters), "page_size": ["1"], "fields": ["id"]}
        return int(self._page(params)["total"])

    def get(self, record: Any, fields: Any = None) -> Dict[str, Any]:
        """One record by id, as a dict. Raises NotFound."""
        params = filters_to_params({} if fields is None else {"fields": fields})
        return plain_record(self._http.json("GET", self._one(record), params=params))

    def create(self, *records: Mapping[str, Any], dry_run: bool = False, **values: Any) -> Any:
        """Creates a record of the values, or one of each mapping, all or none.

        Returns
        -------
        dict or list of dict
            The record, or the records in their order; with ``dry_run`` the preview.
        """
        bodies = [to_body({**record, **values}) for record in records]
        body = bodies if bodies else to_body(values)
        made = self._http.json(
            "POST",
            self._address,
            params={"dry_run": "1"} if dry_run else None,
            json=body,
            is_repeatable=self.is_repeatable,
        )
        if dry_run:
            return made
        return [plain_record(one) for one in made] if isinstance(made, list) else plain_record(made)

    def update(self, record: Any, *, version: Optional[int] = None, dry_run: bool = False, **values: Any) -> Dict[str, Any]:
        """Changes fields of one record; the others stay.

        With ``version``, as the record had it when you read it (``fields="*"``), the change raises
        VersionConflict if somebody has changed the record since.
        """
        changed = self._http.json(
            "PATCH",
            self._one(record),
            params={"dry_run": "1"} if dry_run else None,
            json=to_body(values),
            headers=None if version is None else {"If-Match": f'"{int(version)}"'},
            # A second change of a version would be refused although the first was made.
            is_repeatable=version is None,
        )
        return plain_record(changed)

    def update_all(self, filters: Mapping[str, Any], *, dry_run: bool = False, **values: Any) -> Any:
        """Changes all matching records, all or none. ``dry_run=True`` returns the preview."""
        params = filters_to_params(filters)
        if dry_run:
            params["dry_run"] = ["1"]
        return self._http.json("PATCH", self._address, params=params, json=to_body(values))

    def delete(self, record: Any, *, version: Optional[int] = None) -> None:
        """Deletes a record. It can be restored."""
        headers = None if version is None else {"If-Match": f'"{int(version)}"'}
        self._http.request("DELETE", self._one(record), headers=headers)

    def restore(self, record: Any) -> Dict[str, Any]:
        """Restores a deleted record."""
        return plain_record(self._http.json("POST", f"{self._one(record)}restore/", json={}, is_repeatable=True))

    def history(self, record: Any) -> Any:
        """Changes of a record as a table, the latest first."""
        answer = self._http.json("GET", f"{self._one(record)}history/")
        return table([plain_record(row) for row in answer["results"]], {}, None, load_pandas())

    def values(self, field: str, **filters: Any) -> Any:
        """Values of a field as a table, with the number of matching records that have each."""
        params = {**filters_to_params(filters), "field": [field]}
        answer = self._http.json("GET", f"{self._address}values/", params=params)
        return table(answer["results"], {"count": "integer"}, ("value", "count"), load_pandas())

    def import_file(
        self,
        file: Union[str, "os.PathLike[str]", Any],
        *,
        dry_run: bool = False,
        **options: Any,
    ) -> Dict[str, Any]:
        """Imports a CSV, XLSX or ELN file, a DataFrame, or a list of dicts; all rows or none.

        Columns are fields by name or title; docs/rest.md, "Import", says how cells are read. An import is never
        repeated by itself after a lost connection.

        Parameters
        ----------
        file
            Path of the file, or a table.
        dry_run : bool
            Checks only.
        **options
            ``match`` ("name" or "barcode" changes existing records), ``partial``, ``mapping``, ``dates``, ``unit``.

        Returns
        -------
        dict
            ``rows``, ``created``, ``updated``, ``unchanged``, ``errors`` and more.

        Raises
        ------
        InvalidRequest
            If rows are refused; ``error.body["errors"]`` lists them.
        """
        data = open(file, "rb").read() if isinstance(file, (str, os.PathLike)) else csv_bytes(file)
        kind = "text/csv"
        if data[:2] == b"PK":
            kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
        params = filters_to_params(options)
        if dry_run:
            params["dry_run"] = ["1"]
        accepted = self._http.json(
            "POST",
            f"{self._address}import/",
            params={**params, "background": ["1"]},
            data=data,
            headers={"Content-Type": kind},
            is_repeatable=True if dry_run else None,
        )
        return self._finish_import(accepted)

    def _finish_import(self, work: Dict[str, Any]) -> Dict[str, Any]:
        """Waits for the end of an import, and returns its report. An interrupt cancels it."""
        address = f"{API}imports/{work['id']}/"
        pause, longest = POLL
        try:
            with Progress(f"Importing {self.path}", self._progress) as progress:
                while work["ended"] is None:
                    rows, checked = work["rows"], work["rows_checked"]
                    text = f"{work['rows_read']} rows read" if rows is None else f"{checked} of {rows} rows"
                    progress.at(checked / max(1, rows or 0), text)
                    time.sleep(pause)
                    pause = min(pause * 1.3, longest)
                    work = self._http.json("GET", address)
                progress.at(1, work["state"])
        except KeyboardInterrupt:
            self._http.request("DELETE", address)
            raise
        if work["state"] == "refused":
            raise InvalidRequest(work["message"], "invalid_request", 400, work["report"])
        if work["state"] != "finished":
            raise WorkFailed(work["message"] or f"The import is {work['state']}.", work["state"])
        return work["report"]

    def save(self, file: Union[str, "os.PathLike[str]"], format: str = "xlsx", **filters: Any) -> None:
        """Writes the matching records to a file: ``csv``, ``xlsx``, ``json`` or ``eln`` (an archive)."""
        params = {**filters_to_params(filters), "format": [format]}
        save_to(self._http, self._address, params, file)

    def __repr__(self) -> str:
        return f"<{self.path} of {self._http.url}>"


def save_to(http: Http, path: str, params: Any, file: Union[str, "os.PathLike[str]"]) -> None:
    """Writes an answer to a file, which exists only once it is complete."""
    response = http.request("GET", path, params=params, headers={"Accept": "*/*"}, stream=True)
    part = f"{os.fspath(file)}.part"
    with open(part, "wb") as out:
        for piece in response.iter_content(1 << 16):
            out.write(piece)
    os.replace(part, file)
