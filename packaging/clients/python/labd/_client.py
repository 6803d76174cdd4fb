"""A connection to a server."""

from __future__ import annotations

import os
import warnings
from typing import Any, Optional

import requests

from ._errors import ConnectionFailed, LabdError, NotFound
from ._http import Http
from ._scoring import Scoring
from ._stock import Stock
from ._columns import VERSION
from ._types import RecordTypes

URL = "LABD_URL"
TOKEN = "LABD_TOKEN"


class Lab(Scoring, Stock, RecordTypes):
    """A connection to a labd server; `labd.connect` opens one.

    Scoring: `score`, `scan`, `proteome`, `batch`, `proteins`, `motif_classes`.
    Stock: `find`, `consume`, `refill`, `aliquots`, `thaw`, `take_out`, `put_back`, `running_out`, `search`.
    Lists of records: `consumables`, `specimen`, `locations` and others, which you call with filters.
    """

    def __init__(self, http: Http, progress: Optional[bool] = None):
        self._http = http
        self._progress = progress
        RecordTypes.__init__(self, http, progress)

    @property
    def url(self) -> str:
        """Address of the server."""
        return self._http.url

    def request(self, method: str, path: str, **options: Any) -> requests.Response:
        """Any request of the API (see /docs), with the token and retries: ``lab.request("GET", "/api/v2/version/").json()``.

        Options are those of the library requests: ``params``, ``json``, ``data``, ``headers``. ``is_repeatable=True`` gives a POST
        an Idempotency-Key.
        """
        return self._http.request(method.upper(), path, **options)

    def close(self) -> None:
        """Closes the connection."""
        self._http.close()

    def __enter__(self) -> Lab:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Lab {self.url}{'' if self._http.has_token else ', without a token'}>"


def connect(
    url: Optional[str] = None,
    token: Optional[str] = None,
    *,
    progress: Optional[bool] = None,
    retries: int = 5,
    verify: Any = True,
) -> Lab:
    """Connects to a server, and checks address and token.

    Parameters
    ----------
    url : str, optional
        Address such as ``http://server:8480``; by default the environment variable LABD_URL.
    token : str, optional
        API token, from your page of tokens; by default LABD_TOKEN. Without one you may score, and read public records.
    progress : bool, optional
        Shows progress of long work on standard error: always (True), never (False), or on terminals and in notebooks.
    retries : int
        Further attempts after lost connections and when the server is busy. Changes are made once.
    verify : bool or str
        As of the library requests: a file with certificates of your own authority.

    Raises
    ------
    ConnectionFailed
        If the server cannot be reached.
    NotAuthenticated
        If the token does not count.
    """
    url = url or os.environ.get(URL)
    if not url:
        raise ValueError(f"Give the address of the server, such as labd.connect('http://server:8480'), or set {URL}.")
    http = Http(url, token or os.environ.get(TOKEN) or None, retries, verify)
    try:
        http.json("GET", "/api/v2/version/")
    except NotFound:
        raise ConnectionFailed(f"There is no labd server at {http.url}. Give its address, such as http://server:8480.") from None
    check_version(http)
    return Lab(http, progress)


def check_version(http: Http) -> None:
    """Warns if the server has another version, whose client is then at its /clients/."""
    try:
        served = http.json("GET", "/clients/")["version"]
    except (LabdError, KeyError, TypeError):
        return
    if served != VERSION:
        warnings.warn(
            f"This is the client of labd {VERSION}, and the server has {served}: install the one at {http.url}/clients/.",
            stacklevel=3,
        )
