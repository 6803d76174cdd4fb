"""Scoring of motifs."""

from __future__ import annotations

import re
import time
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union
from urllib.parse import quote

from ._errors import LabdError, NotFound, WorkFailed
from ._frames import load_pandas, table
from ._http import Http
from ._progress import POLL, Progress
from ._results import SCORING, BatchResult, ProteomeSearch, Scan, Score

Motifs = Union[str, Iterable[str]]
STAGES = ("start", "homologs", "tree", "scores")
SEQUENCE = re.compile(r"^(>.*|[A-Za-z*\s]{40,})$", re.DOTALL)
EXPRESSION = re.compile(r"[.\[\](){}|^$*+?]")


class Scoring:
    """The part of a connection that scores motifs."""

    _http: Http
    _progress: Optional[bool]

    def score(
        self,
        protein: Optional[str] = None,
        motifs: Motifs = (),
        *,
        sequence: Optional[str] = None,
        progress: Optional[bool] = None,
        **options: Any,
    ) -> Score:
        """Scores the conservation of motifs in a protein, and waits for the result.

        Parameters
        ----------
        protein : str
            Accession, entry name or gene of a protein of the corpus (``"P04637"``, ``"TP53"``, ``"TP53 mouse"``), or
            its sequence: a FASTA record, or at least 40 one-letter codes.
        motifs : str or list of str
            Regular expressions over residues, such as ``"F...W..[LIV]"``, and names of motif classes.
        sequence : str, optional
            A sequence of any length in one-letter codes; ``protein`` is then its name.
        progress : bool, optional
            Shows progress on standard error; by default on terminals and in notebooks.
        **options
            Further fields of a job (docs/scoring-api.md, "Submit"): ``alignment``, ``homologs``, ``variant``,
            ``scoringModel``, ``prior``, ``ignoreFeatures``.

        Returns
        -------
        Score
            ``.matches`` is a table with one row for each match: positions in residues from 1, scores ``cs`` from 0
            to 1, ``z`` in standard deviations of random matches, P values.

        Raises
        ------
        InvalidRequest
            For a pattern or sequence without meaning; the message names the character.
        NotFound
            For an unknown protein.
        WorkFailed
            If the job fails or is cancelled.
        """
        request: Dict[str, Any] = {**query_of(protein, sequence), **self._motifs(motifs), **options}
        job = self._run("jobs", request, f"Scoring {label(protein, sequence)}", progress)
        return Score(self._http, job)

    def scan(
        self,
        protein: Optional[str] = None,
        motifs: Optional[Motifs] = None,
        *,
        sequence: Optional[str] = None,
        progress: Optional[bool] = None,
        **options: Any,
    ) -> Scan:
        """Looks for all motif classes, or the given motifs, in a protein, and ranks all matches together.

        Arguments as for `score`. ``.matches`` of the result has ``q``, the false discovery rate from 0 to 1, and
        ``group`` for matches that overlap.
        """
        chosen: Mapping[str, Any] = {"allMotifClasses": True} if motifs is None else self._motifs(motifs)
        request = {**query_of(protein, sequence), **chosen, **options}
        job = self._run("jobs", request, f"Scanning {label(protein, sequence)}", progress)
        return Scan(self._http, job)

    def proteome(
        self,
        motif: str,
        organism: Optional[str] = None,
        *,
        progress: Optional[bool] = None,
        **options: Any,
    ) -> ProteomeSearch:
        """Searches all proteins whose families are stored for a motif.

        Parameters
        ----------
        motif : str
            A motif class such as ``"LIG_SH3_1"``, or a regular expression over residues.
        organism : str, optional
            Only proteins of this organism: taxon of NCBI, scientific name, or mnemonic of UniProt (``"human"``).
        """
        [(field, value)] = self._classify([motif])
        request: Dict[str, Any] = {{"patterns": "pattern", "motifClasses": "motifClass"}[field]: value, **options}
        if organism is not None:
            request["organism"] = str(organism)
        search = self._run("proteome/searches", request, f"Searching for {motif}", progress)
        return ProteomeSearch(self._http, search)

    def batch(
        self,
        proteins: Union[Iterable[str], Mapping[str, str]],
        motifs: Optional[Motifs] = None,
        *,
        progress: Optional[bool] = None,
        **options: Any,
    ) -> BatchResult:
        """Scores the motifs, or all motif classes, in many proteins, up to 20,000.

        ``proteins`` are accessions, entry names or genes, or a dict from names to sequences.
        """
        if isinstance(proteins, Mapping):
            given = [{"identifier": name, "querySequence": text} for name, text in proteins.items()]
        else:
            given = [{"accession": name} for name in proteins]
        chosen: Mapping[str, Any] = {"allMotifClasses": True} if motifs is None else self._motifs(motifs)
        batch = self._run("batches", {"proteins": given, **chosen, **options}, f"Scoring {len(given)} proteins", progress)
        return BatchResult(self._http, batch)

    def result(self, id: str) -> Score:
        """The result of a job that was started before, such as on a page."""
        return Score(self._http, self._http.json("GET", f"{SCORING}jobs/{id}"))

    def proteins(self, query: str, limit: int = 10) -> Any:
        """Proteins of the corpus by accession, entry name, gene, words of the name, and species, as a table."""
        answer = self._http.json("GET", f"{SCORING}proteins", params={"query": query, "limit": limit})
        return table(answer["results"], {"length": "integer", "taxon": "integer"}, None, load_pandas())

    def motif_classes(self, query: Optional[str] = None) -> Any:
        """Motif classes as a table: ``name``, ``type``, ``expression``, ``informationContent`` in bits, and more."""
        params = {} if query is None else {"query": query}
        rows: List[Dict[str, Any]] = []
        for page in range(1, 10_000):
            answer = self._http.json("GET", f"{SCORING}motif-classes", params={**params, "page": page} if page > 1 else params)
            rows += answer["results"]
            if answer.get("next") is None:
                break
        return table(rows, {}, None, load_pandas())

    def check_pattern(self, pattern: str) -> Dict[str, Any]:
        """A pattern in words. Raises InvalidRequest for one without meaning."""
        return self._http.json("POST", f"{SCORING}patterns", json={"pattern": pattern}, is_repeatable=True)

    def _motifs(self, motifs: Motifs) -> Dict[str, List[str]]:
        """Patterns and classes of a request."""
        request: Dict[str, List[str]] = {}
        for field, motif in self._classify([motifs] if isinstance(motifs, str) else list(motifs)):
            request.setdefault(field, []).append(motif)
        return request

    def _classify(self, motifs: Sequence[str]) -> List[Tuple[str, str]]:
        """The field of a request for each motif: a text without special characters may name a class."""
        return [("motifClasses" if self._is_class(motif) else "patterns", motif) for motif in motifs]

    def _is_class(self, motif: str) -> bool:
        if EXPRESSION.search(motif):
            return False
        try:
            self._http.json("GET", f"{SCORING}motif-classes/{quote(motif, safe='')}")
            return True
        except NotFound:
            # A name rather than residues: the server says which names are similar.
            return not motif.isalpha() or not motif.isupper()

    def _run(self, path: str, request: Dict[str, Any], title: str, shown: Optional[bool]) -> Dict[str, Any]:
        """Starts work and waits for its end. An interrupt cancels it."""
        work = self._http.json("POST", f"{SCORING}{path}", json=request, is_repeatable=True)
        address = f"{SCORING}{path}/{work['id']}"
        # Only one match of a search is looked at while it runs.
        params = {"limit": 1} if path == "proteome/searches" else None
        pause, longest = POLL
        try:
            with Progress(title, self._progress if shown is None else shown) as progress:
                while work["state"] in ("queued", "running", "waiting"):
                    progress.at(*describe(work))
                    time.sleep(pause)
                    pause = min(pause * 1.3, longest)
                    work = self._http.json("GET", address, params=params)
                progress.at(1, str(work["state"]))
        except KeyboardInterrupt:
            self._cancel(address)
            raise
        if work["state"] != "finished":
            raise WorkFailed(work.get("failure") or work.get("message") or f"The work is {work['state']}.", str(work["state"]))
        return work

    def _cancel(self, address: str) -> None:
        try:
            self._http.request("DELETE", address)
        except LabdError:
            pass  # It has ended, or runs to its end.


def query_of(protein: Optional[str], sequence: Optional[str]) -> Dict[str, Any]:
    """The query of a job."""
    if sequence is not None:
        return {"querySequence": sequence, **({} if protein is None else {"identifier": protein})}
    if protein is None:
        return {}
    return {"querySequence": protein} if SEQUENCE.match(protein) else {"accession": protein}


def label(protein: Optional[str], sequence: Optional[str]) -> str:
    text = (protein or sequence or "the protein").split("\n", 1)[0]
    return text if len(text) <= 24 else f"{text[:20]}..."


def describe(work: Mapping[str, Any]) -> Tuple[float, str]:
    """Completed fraction from 0 to 1, and what happens."""
    if work["state"] == "queued":
        place = work.get("place")
        return 0.0, "queued" if place is None else f"place {place} in the queue"
    if "searched" in work:
        return work["searched"] / max(1, work["total"]), f"{work['searched']} of {work['total']} proteins, {work['matches']} matches"
    if work.get("stage") in STAGES:
        at = STAGES.index(work["stage"])
        return (at + (work.get("fraction") or 0.0)) / len(STAGES), work["stage"]
    return work.get("fraction") or 0.0, work.get("message") or ""
