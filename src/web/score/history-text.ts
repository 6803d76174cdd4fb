import { type Change, type History, inferHistory, mapStates } from "../../motif/history.ts";
import { type Node, readTree } from "../../motif/rooted-tree.ts";
import { findSpecies } from "../../motif/species.ts";
import type { NumberedMatch, Result } from "./result.ts";

/** Proteins, and groups of them, that a sentence names. */
const NAMED = 3;

/** The tree of a result with the history of a match; null without a tree. */
export function readHistory(
  { tree, homologs }: Result,
  { atHomologs }: Pick<NumberedMatch, "atHomologs">,
): { root: Node; history: History } | null {
  const root = readTree(tree, homologs);
  return root && { root, history: inferHistory(root, mapStates(atHomologs)) };
}

/** The protein of a leaf: its species, after its gene if it is a paralog. */
export function leafName({ homologs, protein }: Result, leaf: number): string {
  if (leaf === 0) return protein?.gene ?? "this protein";
  const { accession, organism, gene, relation } = homologs[leaf - 1];
  const species = organism === null ? accession : speciesName(organism);
  return relation === "paralog" ? `${gene ?? accession} of ${species}` : species;
}

/** The English name, if it is one word, else the scientific name without strain. */
function speciesName(organism: string): string {
  const common = findSpecies(organism)?.common ?? " ";
  return common.includes(" ") ? organism.replace(/ \(.*/, "") : common;
}

/** `mouse, rat and 5 more`. */
export function listNames(result: Result, leaves: readonly number[], most = NAMED): string {
  const names = [...new Set(leaves.toSorted((a, b) => a - b).map((leaf) => leafName(result, leaf)))];
  const shown =
    names.length > most ? [...names.slice(0, most - 1), `${names.length - most + 1} more`] : names;
  return shown.length < 2 ? shown.join("") : `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}`;
}

/** Where a match appeared and was lost, in a sentence; empty without a tree, or if no homolog reaches the match. */
export function historyText(result: Result, match: NumberedMatch): string {
  const read = match.homologs > 0 ? readHistory(result, match) : null;
  if (!read) return "";
  const { ancestor, changes, otherChanges = [] } = read.history;
  const list = (kind: Change["kind"], of = changes): string => {
    const groups = of
      .filter((change) => change.kind === kind)
      .map(({ leaves }) => leaves)
      .toSorted((a, b) => b.length - a.length);
    const times = groups.length > 1 ? `${groups.length} times, ` : "";
    const example = groups.length > NAMED ? "as " : "";
    const named = groups.slice(0, NAMED).map((leaves) => describeClade(result, leaves));
    return groups.length === 0 ? "" : `${times}${example}in ${named.join("; in ")}`;
  };
  const [gained, lost] = [list("gained"), list("lost")];
  if (ancestor === "undecided")
    return `Either it appeared ${list("gained", otherChanges)}, or it was lost ${lost}: both need as many changes.`;
  if (ancestor === "lacked it")
    return `It appeared ${gained}${lost && `, and was lost again ${lost}`}. The common ancestor of all homologs lacked it.`;
  const parts = [lost && `it was lost ${lost}`, gained && `gained again ${gained}`].filter(Boolean);
  return `The common ancestor of all homologs had it${parts.length > 0 ? `; ${parts.join(", and ")}` : ""}.`;
}

/** One protein, or the ancestor of several. */
const describeClade = (result: Result, leaves: readonly number[]): string =>
  `${leaves.length > 1 ? "the ancestor of " : ""}${listNames(result, leaves)}`;
