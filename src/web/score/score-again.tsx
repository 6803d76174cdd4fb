import { useState } from "preact/hooks";
import { Checkbox } from "../components/field.tsx";
import { FormButtons, FormError, useSubmission } from "../components/form.tsx";
import { type Column, Table } from "../components/table.tsx";
import { navigate, useQuery } from "../page.tsx";
import { alignmentText } from "./alignment-field.tsx";
import { type ChoiceDraft, parseChoice, toDraft, HomologFields, otherErrors } from "./homolog-choice.tsx";
import { type Job, submitJob } from "./job.ts";
import { percent, type Result } from "./result.ts";

type Row = Result["homologs"][number] & { index: number };

/** Chooses among the homologs of a result, and scores the same query with them. */
export function ScoreAgainDialog({ job, result }: { job: Job; result: Result }) {
  const [query] = useQuery();
  const [draft, setDraft] = useState<ChoiceDraft>(() => toDraft(job.homologs));
  const [unticked, setUnticked] = useState<ReadonlySet<number>>(new Set());
  const isOwn = job.hasOwnAlignment;
  const rows = result.homologs.map((homolog, index): Row => Object.assign({ index }, homolog));
  const tick = (index: number, on: boolean): void => {
    const next = new Set(unticked);
    if (on) next.delete(index);
    else next.add(index);
    setUnticked(next);
  };
  const form = useSubmission(async () => {
    const again = await submitJob({
      ...makeRequest(job, result),
      ...chosen(result, { isOwn, draft, unticked }),
    });
    navigate(`/score/${again.id}`, { first: query.get("first") ?? job.id });
    return true;
  });
  const errors = form.fields;
  return (
    <details class="card screen">
      <summary class="card-head">
        <h2>Choose the homologs</h2>
      </summary>
      <form onSubmit={form.submit} noValidate>
        <div class="card-body">
          <p class="hint">
            {isOwn
              ? "Untick rows of your alignment that are to be left out."
              : "Restrict the search, and untick homologs that are to be left out."}{" "}
            P values were made for the default choice, so with another they hold only roughly.
          </p>
          {!isOwn && <HomologFields draft={draft} onChange={setDraft} errors={errors} />}
        </div>
        <Table
          caption="Homologs to use"
          columns={makeColumns(unticked, tick)}
          rows={rows}
          first={{ rows: 25, of: "homologs" }}
          rowKey={({ index }) => index}
        />
        <div class="card-body">
          {otherErrors(errors).length > 0 && <p class="error">{otherErrors(errors).join(" ")}</p>}
          <FormError of={form} shown={["homologs"]} focus />
          <FormButtons of={form} submit="Score again">
            <span class="muted" role="status">
              {unticked.size > 0 && `${unticked.size} of ${rows.length} homologs left out`}
            </span>
          </FormButtons>
        </div>
      </form>
    </details>
  );
}

const makeColumns = (
  unticked: ReadonlySet<number>,
  tick: (index: number, on: boolean) => void,
): Column<Row>[] => [
  {
    name: "accession",
    title: "Use",
    heading: true,
    cell: ({ index, accession, description }) => (
      <Checkbox
        label={<span title={description}>{accession}</span>}
        checked={!unticked.has(index)}
        onChange={(on) => tick(index, on)}
      />
    ),
  },
  { name: "organism", title: "Organism", cell: ({ organism }) => <em>{organism}</em> },
  { name: "identity", title: "Identity", numeric: true, cell: ({ identity }) => percent(identity) },
  { name: "coverage", title: "Coverage", numeric: true, cell: ({ coverage }) => percent(coverage) },
];

/** The evidence that a result leaves out, and its prior, as a request has them. */
export const evidenceOf = ({ provenance, prior }: Result) => ({
  ignoreFeatures: provenance?.ignored?.includes("features") ?? false,
  ignoreClassModels: provenance?.ignored?.includes("class models") ?? false,
  ...(prior !== undefined && { prior }),
});

/** A request for a new job with the query, motifs, model and evidence of this one. */
export const makeRequest = ({ patterns }: Job, result: Result) => ({
  ...evidenceOf(result),
  identifier: result.identifier,
  scoringModel: result.model,
  patterns: patterns.flatMap(({ name, expression }) => (name === null ? expression : [])),
  motifClasses: patterns.flatMap(({ name }) => name ?? []),
});

/** The source of the homologs: the rows that are left of an alignment, or a search with a choice. */
function chosen(
  result: Result,
  { isOwn, draft, unticked }: { isOwn: boolean; draft: ChoiceDraft; unticked: ReadonlySet<number> },
): object {
  if (isOwn) return { alignment: alignmentText(result, (index) => !unticked.has(index)) };
  const leftOut = [...unticked].map((index) => result.homologs[index].accession);
  const leaveOut = [draft.leaveOut, ...leftOut].filter(Boolean).join(", ");
  return { querySequence: result.alignment.query, homologs: parseChoice({ ...draft, leaveOut }) };
}
