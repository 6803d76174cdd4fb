"""Requests with retries. The token is sent and shown nowhere else."""

from __future__ import annotations

import random
import time
import uuid
from typing import Any, Dict, Optional, Tuple
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from requests.auth import AuthBase

from ._errors import ConnectionFailed, LabdError, error_of
from ._columns import VERSION

#: Statuses with which the server has done nothing and another attempt may help.
NOT_DONE = (429, 503)
#: Of proxies in between: the request may have been done.
GATEWAY = (502, 504)
CONNECT_SECONDS = 10
#: A request may compute for a minute, after it has waited for half a minute.
READ_SECONDS = 120
LONGEST_PAUSE = 30.0


class TokenAuth(AuthBase):
    """Adds the token when a request is sent, so that neither headers nor errors have it before."""

    def __init__(self, token: Optional[str]):
        self.__token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self.__token:
            request.headers["Authorization"] = f"Token {self.__token}"
        return request

    def __bool__(self) -> bool:
        return bool(self.__token)

    def __repr__(self) -> str:
        return "<token>" if self else "<no token>"

    def __reduce__(self) -> Any:
        raise TypeError("A connection to labd cannot be pickled, because of its token. Connect again.")


class Http:
    """One connection. Methods raise LabdError for every answer that is no success."""

    def __init__(self, url: str, token: Optional[str], retries: int, verify: Any = True):
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url!r} is not an address of a server. Give one such as http://server:8480.")
        if parts.username or parts.password:
            raise ValueError("Give a token instead of a name and password in the address.")
        self.url = url.rstrip("/")
        self.retries = retries
        self._auth = TokenAuth(token)
        self._session = requests.Session()
        self._session.verify = verify
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, HTTPAdapter(pool_maxsize=4))
        #: Lets callers without an account cancel what they have started.
        self._owner = uuid.uuid4().hex

    @property
    def has_token(self) -> bool:
        return bool(self._auth)

    def close(self) -> None:
        self._session.close()

    def request(
        self,
        method: str,
        path: str,
        *,
        params: Any = None,
        json: Any = None,
        data: Any = None,
        headers: Optional[Dict[str, str]] = None,
        is_repeatable: Optional[bool] = None,
        stream: bool = False,
    ) -> requests.Response:
        """Sends a request until there is an answer.

        ``is_repeatable`` says that a request may be sent again although it may have arrived: by default all but
        POST. A POST with True has an Idempotency-Key, with which the server counts it once.
        """
        headers = {"Accept": "application/json", "User-Agent": f"labd-python/{VERSION}", **(headers or {})}
        if method == "POST" and is_repeatable:
            headers.setdefault("Idempotency-Key", str(uuid.uuid4()))
        if path.startswith("/api/scoring") and not self.has_token:
            headers["Owner-Key"] = self._owner
        may_repeat = method != "POST" if is_repeatable is None else is_repeatable
        for attempt in range(self.retries + 1):
            last = attempt == self.retries
            response: Optional[requests.Response] = None
            try:
                response = self._session.request(
                    method,
                    self.url + path,
                    params=params,
                    json=json,
                    data=data,
                    headers=headers,
                    auth=self._auth,
                    timeout=(CONNECT_SECONDS, READ_SECONDS),
                    stream=stream,
                    # A redirected POST would become a GET.
                    allow_redirects=False,
                )
            except (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError) as error:
                reason, is_sent = explain(error)
                if last or (is_sent and not may_repeat):
                    failure = self._lost(reason, is_sent and method != "GET")
                    # The error of the library has the request, with its token.
                    raise failure from None
            except requests.RequestException as error:
                raise ConnectionFailed(f"{self.url}: {type(error).__name__}: {error}") from None
            if response is not None:
                if response.is_redirect:
                    raise self._moved(response)
                if response.ok:
                    return response
                is_busy = response.status_code in NOT_DONE or (may_repeat and response.status_code in GATEWAY)
                if not is_busy or last:
                    # DELETE may have arrived before.
                    if method == "DELETE" and response.status_code == 404 and attempt > 0:
                        return response
                    raise self._error(response)
            time.sleep(pause(attempt, response))
        raise AssertionError("unreachable")

    def json(self, method: str, path: str, **options: Any) -> Any:
        """The JSON of an answer; None for an empty one."""
        response = self.request(method, path, **options)
        if not response.content:
            return None
        try:
            return response.json()
        except ValueError:
            raise LabdError(
                f"{self.url}{path} answered without JSON. Is {self.url} the address of a labd server?",
                status=response.status_code,
            ) from None

    def _moved(self, response: requests.Response) -> ConnectionFailed:
        target = response.headers["Location"]
        return ConnectionFailed(f"{self.url} redirects to {target}. Give the address of the server there.")

    def _lost(self, reason: str, is_sent: bool) -> ConnectionFailed:
        if is_sent:
            return ConnectionFailed(
                f"The connection to {self.url} was lost ({reason}). The request may have been carried out: "
                "look before you send it again."
            )
        return ConnectionFailed(
            f"{self.url} cannot be reached: {reason}. Check that the server runs, that the address is right "
            "(argument url or LABD_URL), and whether a firewall or proxy is in between."
        )

    def _error(self, response: requests.Response) -> LabdError:
        try:
            body = response.json()
        except ValueError:
            body = None
        error = error_of(response.status_code, body, response.text, response.headers.get("X-Request-Id"))
        if response.status_code == 401 and not self.has_token:
            error.message += " Give a token to labd.connect, or set LABD_TOKEN."
            error.args = (error.message,)
        return error

    def __repr__(self) -> str:
        return f"<Http {self.url}>"


def pause(attempt: int, response: Optional[requests.Response]) -> float:
    """Seconds before the next attempt: those that the server asks for, else doubled each time, with some chance."""
    after = response.headers.get("Retry-After", "") if response is not None else ""
    if after.isdigit():
        return min(float(after), LONGEST_PAUSE)
    return min(0.25 * 2**attempt, LONGEST_PAUSE) * random.uniform(0.75, 1.25)


def explain(error: BaseException) -> Tuple[str, bool]:
    """The reason of a failed connection, and True if the request may have arrived."""
    text = str(error)
    if isinstance(error, requests.exceptions.SSLError):
        return f"its certificate is not accepted ({innermost(error)})", False
    if isinstance(error, requests.ConnectTimeout):
        return f"no answer within {CONNECT_SECONDS} s", False
    if isinstance(error, requests.exceptions.ProxyError):
        return "the proxy does not answer", False
    if "NewConnectionError" in text or "NameResolution" in text:
        if "Name or service not known" in text or "Temporary failure in name" in text or "getaddrinfo" in text:
            return "the name of the server is unknown", False
        return str(innermost(error)), False
    if isinstance(error, requests.Timeout):
        return f"no answer within {READ_SECONDS} s", True
    return "the connection was closed without an answer", True


def innermost(error: BaseException) -> str:
    """The reason of the system, such as `Connection refused`."""
    reason: Any = error
    while True:
        inner = getattr(reason, "reason", None) or next((one for one in getattr(reason, "args", ()) if isinstance(one, BaseException)), None)
        if inner is None or isinstance(inner, str):
            break
        reason = inner
    text = str(reason)
    return text.rsplit("] ", 1)[-1].rsplit(": ", 1)[-1].lower() if "]" in text or ": " in text else text
