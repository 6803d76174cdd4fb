"""How conserved are the matches of patterns in the first row of an alignment? The script at the end of the peer pipeline.

    python3 score.py ALIGNMENT.fa TREE.nwk PATTERN...

Standard library only. For every match: homologs with residues there, and the part of them that keep the pattern within
ten residues of its place, each weighted by its share of the branches between it and the query.
"""

import re
import sys

SHIFT = 10


def read_alignment(path):
    names, rows = [], []
    for line in open(path):
        if line.startswith(">"):
            names.append(line[1:].split()[0])
            rows.append([])
        else:
            rows[-1].append(line.strip().upper())
    return names, ["".join(parts) for parts in rows]


def read_tree(text):
    """Newick without names of inner nodes: parent and branch length of every node, and the leaves by name."""
    parents, lengths, leaves = [None], [0.0], {}
    node = 0
    for token in re.findall(r"\(|\)|,|:[^,();]+|[^,():;\s]+", text):
        if token == "(":
            parents.append(node)
            lengths.append(0.0)
            node = len(parents) - 1
        elif token == ",":
            parents.append(parents[node])
            lengths.append(0.0)
            node = len(parents) - 1
        elif token == ")":
            node = parents[node]
        elif token.startswith(":"):
            lengths[node] = max(0.0, float(token[1:]))
        else:
            leaves[token] = node
    return parents, lengths, leaves


def weights(tree, query):
    """Each branch on the way from the query to a leaf, shared by the leaves beyond it."""
    parents, lengths, leaves = tree
    edges = [[] for _ in parents]
    for node, parent in enumerate(parents):
        if parent is not None:
            edges[node].append((parent, lengths[node]))
            edges[parent].append((node, lengths[node]))
    order, came = [leaves[query]], {leaves[query]: (None, 0.0)}
    for node in order:
        for other, length in edges[node]:
            if other not in came:
                came[other] = (node, length)
                order.append(other)
    below = dict.fromkeys(came, 0)
    for node in leaves.values():
        below[node] = 1
    for node in reversed(order[1:]):
        below[came[node][0]] += below[node]
    total = {leaves[query]: 0.0}
    for node in order[1:]:
        before, length = came[node]
        total[node] = total[before] + length / max(1, below[node])
    return {name: total[node] + 1e-6 for name, node in leaves.items() if name != query}


def main(alignment, tree, patterns):
    names, rows = read_alignment(alignment)
    weight = weights(read_tree(open(tree).read()), names[0])
    columns = [i for i, letter in enumerate(rows[0]) if letter != "-"]
    query = rows[0].replace("-", "")
    plain = [row.replace("-", "") for row in rows]
    for pattern in patterns:
        compiled = re.compile(pattern)
        for match in re.finditer("(?=(%s))" % pattern, query):
            start, end = match.start(1), match.end(1)
            if start == end:
                continue
            first, last = columns[start], columns[end - 1]
            kept = total = seen = 0
            for name, row, own in zip(names[1:], rows[1:], plain[1:]):
                if row[first : last + 1].strip("-") == "":
                    continue
                before = len(row[:first].replace("-", ""))
                behind = len(row[: last + 1].replace("-", ""))
                seen += 1
                total += weight[name]
                if compiled.search(own[max(0, before - SHIFT) : behind + SHIFT]):
                    kept += weight[name]
            score = "%.4f" % (kept / total) if seen >= 3 else "-"
            print(pattern, start + 1, end, match.group(1), seen, score, sep="\t")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
