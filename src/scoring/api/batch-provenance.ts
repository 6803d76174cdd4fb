import type { Batch, Batches } from "../batch/batches.ts";
import type { Corpora } from "../corpus/corpus.ts";
import type { Handlers } from "../jobs/handlers.ts";
import { fullProvenance, runProvenance } from "../prediction/provenance.ts";
import { joinProvenance, type Provenance } from "../table/provenance.ts";

interface Sources {
  batches: Batches;
  handlers: Pick<Handlers, "request">;
  corpora: Pick<Corpora, "list">;
}

/** Jobs of a batch up to which its tables list the queries. */
const MAX_LISTED = 200;

/** The provenance of a batch without its patterns and queries, for pages. */
export const batchSource = (sources: Sources, batch: Batch): Provenance => {
  const counts = { ...batch.counts, total: Number.POSITIVE_INFINITY };
  const {
    patterns: _patterns,
    queries_count: _count,
    ...source
  } = batchProvenance(sources, { ...batch, counts });
  return source;
};

/** The provenance of the matches of a batch, whose jobs may have been scored against several corpora. */
export function batchProvenance({ batches, handlers, corpora }: Sources, batch: Batch): Provenance {
  const { id, created, request, counts } = batch;
  const items = counts.total > MAX_LISTED ? [] : batches.items(id, 0, MAX_LISTED);
  const questions = items.flatMap(({ name, job, group }) => {
    const sequence = job === null ? undefined : handlers.request(job)?.query;
    return sequence === undefined ? [] : [{ name, sequence, patterns: request.groups[group] }];
  });
  const isListed = questions.length > 0;
  const [patterns, ...others] = request.groups;
  const unnamed = others.length === 0 ? [{ name: "", sequence: "", patterns }] : [];
  const run = runProvenance({
    at: created,
    options: request.homologs,
    evidence: request,
    questions: isListed ? questions : unnamed,
  });
  const { model } = request;
  const known = corpora.list();
  const versions = batches.versions(id).map(({ corpus: hash, method }) => {
    const found = known.find((corpus) => corpus.hash === hash);
    const { name = "removed", sequences = 0 } = found ?? {};
    const { queries: _, ...rest } = fullProvenance(run, { method, model, corpus: { name, hash, sequences } });
    return rest;
  });
  const queries = isListed ? run.queries : undefined;
  if (versions.length === 0) return { ...run, model, queries };
  return {
    ...joinProvenance(versions),
    // Jobs of one batch may have waited while the corpus or the method changed.
    queries_count: queries ? undefined : counts.total,
    queries,
  };
}
