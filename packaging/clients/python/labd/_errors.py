"""Errors, with the words of the server."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Type


class LabdError(Exception):
    """An error of the server, or on the way there.

    Attributes
    ----------
    message : str
        What is wrong, and what to do, in the words of the server.
    code : str
        Code of the problem, such as ``invalid_request``; docs/problems.md lists them.
    status : int or None
        HTTP status; None if there was no answer.
    fields : dict of str to list of str
        Messages by field or parameter; empty if the error is about none.
    request_id : str or None
        Identifies the request in the log of the server.
    """

    def __init__(
        self,
        message: str,
        code: str = "",
        status: Optional[int] = None,
        body: Any = None,
        request_id: Optional[str] = None,
    ):
        super().__init__(message)
        self.message = message
        self.code = code
        self.status = status
        self.body = body
        self.request_id = request_id

    @property
    def fields(self) -> Dict[str, List[str]]:
        body = self.body if isinstance(self.body, dict) else {}
        return {
            name: value
            for name, value in body.items()
            if isinstance(value, list) and all(isinstance(one, str) for one in value)
        }


class ConnectionFailed(LabdError):
    """The server cannot be reached, or the connection was lost."""


class InvalidRequest(LabdError):
    """The server refuses the request (400, 413, 422); ``fields`` says which fields and why."""


class NotAuthenticated(LabdError):
    """The token is missing, unknown, expired or revoked (401)."""


class Forbidden(LabdError):
    """The account may not do this (403)."""


class NotFound(LabdError):
    """There is no such record, protein or result, or you may not view it (404)."""


class Conflict(LabdError):
    """The request contradicts the state of a record (409)."""


class VersionConflict(LabdError):
    """The record has been changed since you read it (412)."""


class TooManyRequests(LabdError):
    """Too many requests, also after retries (429)."""


class Unavailable(LabdError):
    """The server cannot take the request now, also after retries (503)."""


class ServerFailure(LabdError):
    """The server failed (other 5xx). Its log has the cause under ``request_id``."""


class WorkFailed(LabdError):
    """A job, search or batch failed or was cancelled."""


class AmbiguousCode(LabdError):
    """Several records have the code. Give the id of one."""


STATUSES: Dict[int, Type[LabdError]] = {
    401: NotAuthenticated,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    412: VersionConflict,
    429: TooManyRequests,
    503: Unavailable,
}


def error_of(status: int, body: Any, text: str, request_id: Optional[str]) -> LabdError:
    """The error of an answer. A list has the errors of each record of a list that was created."""
    kind = STATUSES.get(status, InvalidRequest if status < 500 else ServerFailure)
    code = ""
    if isinstance(body, dict):
        code = str(body.get("code", ""))
        message = str(body.get("message") or body.get("detail") or body)
    elif isinstance(body, list):
        wrong = [f"record {at}: {errors}" for at, errors in enumerate(body) if errors]
        message = "; ".join(wrong[:5])
    else:
        message = f"The server answered with status {status}: {text[:200].strip() or 'no text'}"
    return kind(message, code, status, body, request_id)
