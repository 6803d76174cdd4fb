import type { Answer } from "../request.ts";

/** Several proteins with the same or other motifs, as jobs that the server submits. */

export type BatchTask = Answer<"GET /api/scoring/batches/:id">;
/** A job of a batch. */
export type Item = Answer<"GET /api/scoring/batches/:id/items">["items"][number];

export interface Batch {
  groups: BatchTask["groups"];
  items: Item[];
}

/** The label of a motif: its name, or its expression. */
export const nameMotif = ({ name, expression }: Batch["groups"][number][number]): string =>
  name ?? expression;

/** The motifs of a batch as parameters of the page that starts one. */
export function motifParameters(groups: Batch["groups"]): { class: string[]; pattern: string[] } {
  const motifs = new Map(groups.flat().map((motif) => [nameMotif(motif), motif]));
  return {
    class: [...motifs.values()].flatMap(({ name }) => name ?? []),
    pattern: [...motifs.values()].flatMap(({ name, expression }) => (name === null ? expression : [])),
  };
}
