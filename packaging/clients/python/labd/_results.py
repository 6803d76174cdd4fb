"""Results of scoring: matches as tables, and files."""

from __future__ import annotations

import os
from typing import Any, Dict, Mapping, Optional, Union

from ._frames import load_pandas, read_tsv, table, tsv_columns
from ._http import Http
from ._query import filters_to_params
from ._records import save_to
from ._columns import MATCH_COLUMNS

SCORING = "/api/scoring/"


class Result:
    """Finished work, whose matches are read when you ask for them.

    Attributes
    ----------
    id : str
        Identifies the work on the server.
    url : str
        Address of its page.
    info : dict
        State, protein, motifs and more, as the server gave them last.
    """

    _path = ""
    _table = ""
    _columns = "result"
    _page = ""

    def __init__(self, http: Http, info: Mapping[str, Any]):
        self._http = http
        self.id = str(info["id"])
        self.info: Dict[str, Any] = dict(info)
        self._matches: Any = None

    @property
    def url(self) -> str:
        return f"{self._http.url}/{self._page}/{self.id}"

    @property
    def _address(self) -> str:
        return f"{SCORING}{self._path}/{self.id}"

    @property
    def matches(self) -> Any:
        """All matches, one row for each; ``labd.Score.columns`` describes the columns."""
        if self._matches is None:
            self._matches = self.select()
        return self._matches

    def select(self, **filters: Any) -> Any:
        """Matches that pass filters, as a table.

        Parameters
        ----------
        **filters
            ``verdict`` (such as "likely functional" or several), ``max_q``, ``motif``, ``type``, ``species``, ``region``
            ("disordered" or "ordered"), ``kept`` ("90-100"), ``best_of_group``, ``order`` (a column, ``-`` reverses).

        Returns
        -------
        pandas.DataFrame or list of dict
            Shape (matches, columns).
        """
        params = filters_to_params(filters)
        joined = {name: ",".join(values) for name, values in params.items()}
        response = self._http.request(
            "GET", f"{self._address}/{self._table}", params={**joined, "format": "tsv"}, headers={"Accept": "*/*"}
        )
        text = response.content.decode()
        types = {name: kind for name, (kind, _) in MATCH_COLUMNS[self._columns].items()}
        return table(read_tsv(text, types), types, tsv_columns(text), load_pandas())

    @property
    def columns(self) -> Dict[str, str]:
        """Descriptions of the columns of ``matches``, with units."""
        return {name: text for name, (_, text) in MATCH_COLUMNS[self._columns].items()}

    def save(self, file: Union[str, "os.PathLike[str]"], format: str = "tsv", **filters: Any) -> None:
        """Writes the matches to a file: ``tsv``, ``gff3``, ``bed``, ``xlsx`` or ``json``."""
        params = {name: ",".join(values) for name, values in filters_to_params(filters).items()}
        save_to(self._http, f"{self._address}/{self._table}", {**params, "format": format}, file)

    def _title(self) -> str:
        return self.id

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._title()}: {self.info.get('state')}, {self.url}>"

    def _repr_html_(self) -> Optional[str]:
        shown = getattr(self.matches, "_repr_html_", None)
        return None if shown is None else f'<a href="{self.url}">{self._title()}</a>{shown()}'


class Score(Result):
    """Scores of the matches of motifs in one protein."""

    _path = "jobs"
    _table = "result"
    _page = "score"

    def json(self) -> Dict[str, Any]:
        """The whole result: matches with homologs, alignment, tree, weights and warnings."""
        return self._http.json("GET", f"{self._address}/result", params={"format": "json"})

    def features(self) -> Dict[str, Any]:
        """Imported features of the protein and its matches."""
        return self._http.json("GET", f"{self._address}/features")

    def _title(self) -> str:
        protein = self.info.get("protein") or {}
        return str(self.info.get("identifier") or protein.get("gene") or self.id)


class Scan(Score):
    """Ranked matches of many motif classes in one protein, with q-values."""

    _table = "scan"
    _columns = "scan"


class ProteomeSearch(Result):
    """Ranked matches of one motif in the proteins of a corpus."""

    _path = "proteome/searches"
    _table = "matches"
    _columns = "proteome"
    _page = "proteome"

    def _title(self) -> str:
        return str(self.info.get("motifClass") or self.info.get("expression"))


class BatchResult(Result):
    """Scores of many proteins. ``select(rows="best")`` has the best match of each motif in each protein, and why others failed."""

    _path = "batches"
    _table = "matches"
    _columns = "batch"
    _page = "batch"

    def _title(self) -> str:
        return str(self.info.get("title", self.id))
