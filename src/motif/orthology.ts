import { IDENTITY_DECAY } from "./options.ts";
import type { Homolog, KeptIn, MatchScore, Prediction, Relation } from "./prediction.ts";
import { listLeaves, type Node } from "./rooted-tree.ts";

/**
 * The relation of each homolog to the query; null for a homolog of unknown species.
 *
 * A node between the query and the root is a duplication if a species is on both sides of it (species overlap; Huerta-Cepas,
 * Dopazo, Dopazo & Gabaldón, Genome Biol. 2007, 8:R109). The homologs beyond it are paralogs: orthologs of a paralog of the
 * query. Of the others, the best of each species is its ortholog; the others of a species, and those of the query's own, are
 * paralogs.
 *
 * @param root the tree; null if there is none.
 * @param species the species of each homolog, best homolog first; null if it is unknown.
 * @param own species that have the query itself; empty if it is unknown.
 */
export function relateHomologs(
  root: Node | null,
  species: readonly (string | null)[],
  own: ReadonlySet<string>,
): (Relation | null)[] {
  const duplicated = root ? findDuplicated(root, species, own) : new Set<number>();
  const seen = new Set(own);
  return species.map((key, i) => {
    if (key === null) return null;
    if (duplicated.has(i) || seen.has(key)) return "paralog";
    seen.add(key);
    return "ortholog";
  });
}

/** Homologs that a duplication separates from the query. */
function findDuplicated(
  root: Node,
  species: readonly (string | null)[],
  own: ReadonlySet<string>,
): Set<number> {
  const duplicated = new Set<number>();
  const near = new Set(own);
  /** Walks from the query to a node; false if the query is not below the node. */
  const visit = (node: Node): boolean => {
    if (node.children.length === 0) return node.leaf === 0;
    const side = node.children.find(visit);
    if (!side) return false;
    const beyond = node.children.filter((child) => child !== side).flatMap(listLeaves);
    const found = new Set(beyond.flatMap((leaf) => species[leaf - 1] ?? []));
    for (const leaf of found.isDisjointFrom(near) ? [] : beyond) duplicated.add(leaf - 1);
    for (const key of found) near.add(key);
    return true;
  };
  visit(root);
  return duplicated;
}

/**
 * A prediction with the relation of each homolog, and with what orthologs and paralogs keep at each match.
 *
 * @param root the tree; null if there is none.
 * @param own organisms that have the query itself; null for unknown ones.
 */
export function addOrthology<Of extends Prediction>(
  prediction: Of,
  root: Node | null,
  own: readonly (string | null | undefined)[],
): Of {
  const species = prediction.homologs.map(({ organism }) => organism?.toLowerCase() ?? null);
  const relations = relateHomologs(root, species, new Set(own.flatMap((name) => name?.toLowerCase() ?? [])));
  const homologs = prediction.homologs.map((homolog, i) => ({ ...homolog, relation: relations[i] }));
  const patterns = prediction.patterns.map((pattern) => ({
    ...pattern,
    matches: pattern.matches.map((match) => ({
      ...match,
      orthologs: countKept(match, homologs, "ortholog"),
      paralogs: countKept(match, homologs, "paralog"),
    })),
  }));
  return { ...prediction, homologs, patterns };
}

/** The homologs of a relation at a match, and their conservation score: as CS over these alone (docs/method.md). */
function countKept(
  { atHomologs }: Pick<MatchScore, "atHomologs">,
  homologs: readonly Homolog[],
  relation: Relation,
): KeptIn {
  const kept: KeptIn = { homologs: 0, kept: 0, nearby: 0, score: null };
  let [weights, sum] = [0, 0];
  for (const { homolog, state, retention } of atHomologs) {
    const { weight, identity, relation: own } = homologs[homolog];
    if (own !== relation || retention === null) continue;
    kept.homologs++;
    if (state === "conserved") kept.kept++;
    if (state === "shifted") kept.nearby++;
    const value = weight * Math.exp((identity - 1) / IDENTITY_DECAY);
    weights += value;
    sum += value * retention;
  }
  if (weights > 0) kept.score = Math.round((sum / weights) * 1e6) / 1e6;
  return kept;
}
