"""Client of a labd server: conservation of motifs in proteins, and the inventory of a laboratory.

>>> import labd
>>> lab = labd.connect("http://server:8480", token="...")    # or LABD_URL and LABD_TOKEN
>>> lab.score("TP53", ["F...W..[LIV]"]).matches
>>> lab.consumables(model_type="ANTIBODY", expiry__lte="30d")
>>> lab.consume(barcode="CO0000115", amount="20 µL")

Tables are pandas DataFrames if pandas is installed, otherwise lists of dicts.
"""

from ._client import Lab, connect
from ._errors import (
    AmbiguousCode,
    Conflict,
    ConnectionFailed,
    Forbidden,
    InvalidRequest,
    LabdError,
    NotAuthenticated,
    NotFound,
    ServerFailure,
    TooManyRequests,
    Unavailable,
    VersionConflict,
    WorkFailed,
)
from ._records import Records
from ._results import BatchResult, ProteomeSearch, Scan, Score
from ._columns import VERSION as __version__

__all__ = [
    "AmbiguousCode",
    "BatchResult",
    "Conflict",
    "ConnectionFailed",
    "Forbidden",
    "InvalidRequest",
    "Lab",
    "LabdError",
    "NotAuthenticated",
    "NotFound",
    "ProteomeSearch",
    "Records",
    "Scan",
    "Score",
    "ServerFailure",
    "TooManyRequests",
    "Unavailable",
    "VersionConflict",
    "WorkFailed",
    "__version__",
    "connect",
]
