/** Names and values that queries of pages had before all tables of matches shared them. */
interface Renamed {
  /** Names by the former one. */
  names: Readonly<Record<string, string>>;
  /** Values by the current name and the former value; null drops the value. */
  values?: Readonly<Record<string, Readonly<Record<string, string | null>>>>;
}

/** Columns that orders named before. */
const ORDERS = { score: "cs", "-score": "-cs" };
/** Names of the verdict before there was one. */
const VERDICTS = { overall_verdict: "verdict", label: "verdict" };
const P = { p: "overall_p", "-p": "-overall_p" };
const DEFAULT_DISTANCE = "5";

/** The query with current names; the same one where nothing has changed. */
function renamed(search: URLSearchParams, { names, values = {} }: Renamed): URLSearchParams {
  const next = new URLSearchParams();
  for (const [former, text] of search) {
    const name = names[former] ?? former;
    const changed = values[name]?.[text];
    if (changed !== null) next.append(name, changed ?? text);
  }
  return String(next) === String(search) ? search : next;
}

/** Both values of a choice of one mean no choice. */
function withoutPairs(search: URLSearchParams, ...names: string[]): URLSearchParams {
  for (const name of names) if (search.getAll(name).length > 1) search.delete(name);
  return search;
}

export const currentResultQuery = (search: URLSearchParams): URLSearchParams => {
  const next = renamed(search, {
    names: { ...VERDICTS, sort: "order", pattern: "motif" },
    values: { order: { ...P, ...ORDERS } },
  });
  const motif = search.get("pattern");
  if (motif !== null) next.set("motif", motif.replaceAll(",", ";"));
  return next;
};

export const currentScanQuery = (search: URLSearchParams): URLSearchParams =>
  withoutPairs(
    renamed(search, {
      names: { ...VERDICTS, sort: "order", q: "max_q", best: "best_of_group" },
      values: {
        order: P,
        best_of_group: { yes: "true" },
        phosphosite: { near: DEFAULT_DISTANCE },
        known: { known: "true", other: "false" },
      },
    }),
    "domain",
    "known",
  );

export const currentProteomeQuery = (search: URLSearchParams): URLSearchParams =>
  renamed(search, {
    names: { ...VERDICTS, sort: "order", outside: "domain", near: "phosphosite" },
    values: {
      order: { ...P, protein: "accession", "-protein": "-accession" },
      domain: { yes: "outside" },
      phosphosite: { yes: DEFAULT_DISTANCE },
      known: { yes: "true" },
    },
  });

export const currentBatchQuery = (search: URLSearchParams): URLSearchParams =>
  renamed(search, {
    names: { ...VERDICTS, sort: "order", q: "search" },
    values: { order: { ...P, ...ORDERS, protein: "query", "-protein": "-query" } },
  });
