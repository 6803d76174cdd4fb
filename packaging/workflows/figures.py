#!/usr/bin/env python3
"""Draw figures from a table of labd score or labd scan (TSV).

    figures.py TABLE FASTA DIRECTORY

matches.svg: each protein to scale, with its matches coloured by verdict; the best is named.
motifs.svg: the evidence (z) of the best match of each motif in each protein.

Needs Python 3.9 and matplotlib (Debian: python3-matplotlib). The files depend on the table alone, to the byte.
"""

import csv
import sys
from pathlib import Path

import matplotlib

matplotlib.use("svg")
# Identifiers in SVG files are random without a salt.
matplotlib.rcParams["svg.hashsalt"] = "labd"
import matplotlib.pyplot as plt  # noqa: E402

COLOURS = {"likely functional": "#0b6e4f", "possible": "#e09f3e", "no evidence": "#b8bfc6", "not scored": "#e3e6e8"}
MAX_PROTEINS = 60


def read_table(path):
    """Rows of a table as dictionaries; the provenance before it starts with #."""
    with open(path, encoding="utf-8", newline="") as lines:
        return list(csv.DictReader((line for line in lines if not line.startswith("#")), delimiter="\t"))


def read_lengths(path):
    """Residues of each sequence of a FASTA file, by identifier."""
    lengths, name = {}, None
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        if line.startswith(">"):
            name = line[1:].split()[0]
            lengths[name] = 0
        elif name is not None:
            lengths[name] += len(line.strip())
    return lengths


def evidence(row):
    """z of a row; matches without one count as the least evidence."""
    return float(row["z"]) if row["z"] else float("-inf")


def motif(row):
    """Motif class or expression; scans and scores name the column differently."""
    return row.get("motif") or row["pattern"]


def group(rows):
    """Matches by protein, with the protein of most evidence first."""
    matches = {}
    for row in rows:
        found = matches.setdefault(row["query"], [])
        if row["start"]:
            found.append(row)
    best = {query: max(map(evidence, found), default=float("-inf")) for query, found in matches.items()}
    return {query: sorted(matches[query], key=evidence) for query in sorted(matches, key=lambda query: -best[query])}


def label(rows, query):
    """Gene and accession of a protein."""
    gene = next((row.get("gene") for row in rows if row["query"] == query and row.get("gene")), None)
    return f"{gene} ({query})" if gene else query


def save(figure, path):
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None, "Creator": None})
    plt.close(figure)


def draw_matches(rows, lengths, path):
    proteins = list(group(rows).items())[:MAX_PROTEINS]
    figure, axes = plt.subplots(figsize=(10, 0.5 * len(proteins) + 1.2))
    for y, (query, matches) in enumerate(proteins):
        length = lengths.get(query) or max((int(row["end"]) for row in matches), default=1)
        axes.plot([1, length], [y, y], color="#8a939b", linewidth=1.5, zorder=1, solid_capstyle="butt")
        # Matches with more evidence cover others.
        for row in matches:
            start, end = int(row["start"]), int(row["end"])
            axes.barh(y, end - start + 1, left=start, height=0.5, color=COLOURS.get(row["overall_verdict"], "#e3e6e8"), zorder=2)
        if matches and matches[-1]["overall_verdict"] in ("likely functional", "possible"):
            axes.text(int(matches[-1]["start"]), y - 0.32, motif(matches[-1]), fontsize=7, va="bottom")
    axes.set_yticks(range(len(proteins)), [label(rows, query) for query, _ in proteins])
    axes.invert_yaxis()
    axes.set_xlabel("residue")
    axes.spines[["top", "right", "left"]].set_visible(False)
    handles = [plt.Rectangle((0, 0), 1, 1, color=colour) for colour in COLOURS.values()]
    axes.legend(handles, list(COLOURS), loc="upper center", bbox_to_anchor=(0.5, -0.9 / (0.5 * len(proteins) + 1.2)), ncol=4, frameon=False)
    save(figure, path)


def draw_motifs(rows, path):
    proteins = list(group(rows))[:MAX_PROTEINS]
    motifs = sorted({motif(row) for row in rows if row["start"]})
    best = {}
    for row in rows:
        if row["z"]:
            key = (row["query"], motif(row))
            best[key] = max(best.get(key, float("-inf")), evidence(row))
    values = [[best.get((query, name), float("nan")) for name in motifs] for query in proteins]
    figure, axes = plt.subplots(figsize=(0.6 * len(motifs) + 3, 0.4 * len(proteins) + 2))
    if motifs:
        image = axes.imshow(values, cmap="viridis", vmin=-1, vmax=4, aspect="auto")
        figure.colorbar(image, label="evidence (z)", extend="both")
    axes.set_xticks(range(len(motifs)), motifs, rotation=60, ha="right", fontsize=7)
    axes.set_yticks(range(len(proteins)), [label(rows, query) for query in proteins])
    save(figure, path)


def main(table, fasta, directory):
    rows = read_table(table)
    target = Path(directory)
    target.mkdir(parents=True, exist_ok=True)
    draw_matches(rows, read_lengths(fasta), target / "matches.svg")
    draw_motifs(rows, target / "motifs.svg")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
