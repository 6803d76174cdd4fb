import { decode } from "./alphabet.ts";
import type { Corpus } from "./corpus.ts";
import type { ProteinPart } from "./protein-text.ts";
import { type Hit, readResidues } from "./search.ts";
import { speciesRank } from "./species.ts";

/** The longer protein among hits that has the query unchanged, of several that of the most studied species. */
export function findWhole(query: Uint8Array, hits: readonly Hit[], corpus: Corpus): ProteinPart | null {
  const text = decode(query);
  const found = hits.flatMap(({ index }) => {
    const residues = readResidues(corpus, index);
    const at = residues.length > query.length ? decode(residues).indexOf(text) : -1;
    if (at < 0) return [];
    const { accession, gene, organism } = corpus.identity(index);
    const rank = organism === null ? -1 : speciesRank(organism);
    const names = [gene, organism].filter(Boolean).join(", ");
    return [{ rank: rank < 0 ? Infinity : rank, accession, names, start: at + 1, end: at + text.length }];
  });
  const [first] = found.toSorted((a, b) => (a.rank === b.rank ? 0 : a.rank - b.rank));
  if (!first) return null;
  const { rank: _rank, ...part } = first;
  return part;
}
