import { expect, test } from "bun:test";
import { decode, encode } from "../../src/motif/alphabet.ts";
import { type AlignedHomolog, measureHomolog } from "../../src/motif/divergence.ts";
import { rowFromGapped } from "../../src/motif/msa.ts";
import { parsePattern } from "../../src/motif/pattern.ts";
import { readAlignment } from "../../src/motif/query.ts";
import { openMotif, type Retention } from "../../src/motif/retention.ts";
import { tailRetention } from "../../src/motif/tail.ts";
import { random, randomProtein } from "../fixtures/random-protein.ts";

const CORE = decode(randomProtein(random(71), 60)).replaceAll("K", "A");

/** Query and homolog as gapped rows; the match as letters from either end of the query. */
function tail(
  query: string,
  homolog: string,
  expression: string,
  start: number,
  end: number,
): Retention | null {
  const { query: codes, rows } = readAlignment([
    { name: "query", letters: query },
    { name: "homolog", letters: homolog },
  ]);
  const measured: AlignedHomolog = measureHomolog(codes, rows[0]);
  const from = start < 0 ? codes.length + start : start;
  const motif = openMotif(parsePattern(expression).automaton, "discontinuous");
  return tailRetention(motif, { start: from, end: from + (end - start) }, measured, codes.length);
}

test("finds a motif in an unaligned end by its distance to the end of the chain", () => {
  // The homolog's end overhangs: its residues are beside the query's.
  const query = `${CORE}GGSSGGKDEL--------`;
  const homolog = `${CORE}----------TAEEKDEL`;
  expect(tail(query, homolog, "KDEL$", -4, 0)).toEqual({ value: 1, state: "conserved" });
  expect(tail(query, homolog, "KDEL", -4, 0)).toEqual({ value: 0.75, state: "shifted" });
  expect(tail(query, `${CORE}----------TAEEKDAL`, "KDEL$", -4, 0)).toEqual({
    value: 0,
    state: "substituted",
  });
  // Not at the end of the chain.
  expect(tail(query, `${CORE}----------KDELTAEE`, "KDEL$", -4, 0)?.value).toBe(0);
});

test("finds a motif in an unaligned start", () => {
  const query = `--------MGKKSAAAGG${CORE}`;
  const homolog = `MGKKTTTT----------${CORE}`;
  expect(tail(query, homolog, "^MGK", 0, 3)).toEqual({ value: 1, state: "conserved" });
  expect(tail(query, homolog, "GKK", 1, 4)).toEqual({ value: 0.75, state: "shifted" });
  expect(tail(query, homolog, "GKR", 1, 4)).toEqual({ value: 0, state: "substituted" });
});

test("ignores homologs that end or are aligned at the motif", () => {
  expect(tail(`${CORE}GGSSGGKDEL`, `${CORE}----------`, "KDEL", -4, 0)).toBeNull();
  expect(tail(`${CORE}GGSSGGKDEL----`, `${CORE}----------RRK-`, "KDEL", -4, 0)).toBeNull();
  expect(tail(`${CORE}GGKDELGG${CORE}`, `${CORE}GGKDELGG${CORE}`, "KDEL", 62, 66)).toBeNull();
  const gone = measureHomolog(encode("KDEL"), rowFromGapped(encode("KDEL"), new Uint8Array(4).fill(26)));
  const motif = openMotif(parsePattern("KDEL").automaton, "discontinuous");
  expect(tailRetention(motif, { start: 0, end: 4 }, gone, 4)).toBeNull();
});

test("the tail search uses only the alignment if the unaligned ends are far apart", () => {
  const far = "T".repeat(80);
  const query = `${CORE}GGKDEL${"-".repeat(86)}`;
  expect(tail(query, `${CORE}------${far}KDELTT`, "KDEL", -4, 0)).toEqual({ value: 0, state: "substituted" });
  expect(tail(query, `${CORE}------GSGKDEL${far.slice(1)}`, "KDEL", -4, 0)?.value).toBe(0.75);
});
