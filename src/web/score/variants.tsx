import { useState } from "preact/hooks";
import { listVariants } from "../../motif/variant.ts";
import { listChanges } from "../../scoring/table/match-changes.ts";
import type { ComparedMatch } from "../../scoring/index.ts";
import { href } from "../address.ts";
import { TextArea } from "../components/field.tsx";
import { FormButtons, FormError, useSubmission } from "../components/form.tsx";
import { ClosedCard } from "../components/layout.tsx";
import { Loaded, pause, useLoaded } from "../components/loaded.tsx";
import { type Column, Table } from "../components/table.tsx";
import { useQuery } from "../page.tsx";
import { call } from "../request.ts";
import { ChangeTag, MatchName, Overall } from "./comparison.tsx";
import { type Job, readJob, submitJob } from "./job.ts";

/** Variants that the page scores at once; `labd score --variant` takes any number. */
const MAX_VARIANTS = 20;
/** Milliseconds between two questions whether a variant has been scored. */
const POLL = 500;

interface Variant {
  job: string;
  name: string;
  changes: ComparedMatch[];
}
type Row = ComparedMatch & { variant: Variant };

/** A form for variants of the protein of a job, and the matches that they change. */
export function Variants({ job: { id, variant } }: { job: Pick<Job, "id" | "variant"> }) {
  const [query, setQuery] = useQuery();
  const [text, setText] = useState("");
  const jobs = query.get("variants") ?? "";
  const scored = useLoaded(jobs || null, (signal) =>
    Promise.all(jobs.split(",").map((each) => readVariant(id, each, signal))),
  );
  const names = listVariants(text);
  const form = useSubmission(async () => {
    const ids: string[] = [];
    for (const name of names) ids.push((await submitJob({ variantOf: id, variant: name })).id);
    setQuery({ variants: ids.join(",") }, { replace: true });
  });
  const errors = names.length > MAX_VARIANTS ? [`At most ${MAX_VARIANTS} variants.`] : form.fields.variant;
  if (variant !== null) return null;
  return (
    <ClosedCard title={<h2>Try a variant</h2>} open={jobs !== ""} bare>
      <form class="card-body" onSubmit={form.submit} noValidate>
        <TextArea
          label="Variants of the protein"
          hint="W23A or p.Trp23Ala; several separated by commas or lines. F19A+W23A is one protein with both."
          rows={2}
          value={text}
          onInput={setText}
          errors={errors}
          autocapitalize="none"
          spellcheck={false}
        />
        <FormError of={form} shown={["variant"]} focus />
        <FormButtons
          of={form}
          submit="Score the variants"
          look="plain"
          disabled={names.length === 0 || names.length > MAX_VARIANTS}
        />
      </form>
      {jobs !== "" && <Loaded of={scored}>{(variants) => <Changes {...{ id, variants }} />}</Loaded>}
    </ClosedCard>
  );
}

/** Waits until a variant has been scored, and compares it with the unchanged protein. @throws ApiError */
async function readVariant(a: string, b: string, signal: AbortSignal): Promise<Variant> {
  while ((await readJob(b, signal)).ended === null) await pause(POLL, signal);
  const comparison = await call("GET /api/scoring/comparison", { query: { a, b }, signal });
  return { job: b, name: comparison.b.variant ?? "", changes: listChanges(comparison.matches) };
}

function Changes({ id, variants }: { id: string; variants: readonly Variant[] }) {
  const rows = variants.flatMap((variant) =>
    variant.changes.map((change): Row => Object.assign({ variant }, change)),
  );
  const without = variants.filter(({ changes }) => changes.length === 0).map(({ name }) => name);
  return (
    <>
      {rows.length > 0 && (
        <Table
          caption="Matches that the variants change"
          columns={makeColumns(id)}
          rows={rows}
          first={{ rows: 25, of: "matches" }}
          rowKey={({ variant, motif, start, end }) => `${variant.job} ${motif} ${start} ${end}`}
        />
      )}
      <p class="card-body hint">
        {without.length > 0 && `No match changes with ${without.join(", ")}. `}
        Homologs and their alignment are those of the unchanged protein. Matches whose z changes by less than
        0.1 are left out.
      </p>
    </>
  );
}

const makeColumns = (first: string): Column<Row>[] => [
  { name: "match", title: "Match", heading: true, cell: (row) => <MatchName match={row} /> },
  {
    name: "variant",
    title: "Variant",
    cell: ({ variant: { job, name } }) => <a href={href(`/score/${job}`, { first })}>{name}</a>,
  },
  { name: "change", title: "Change", phone: "end", cell: ({ change }) => <ChangeTag change={change!} /> },
  { name: "before", title: "Unchanged protein", cell: ({ a }) => <Overall of={a} missing="no match" /> },
  { name: "after", title: "With the variant", cell: ({ b }) => <Overall of={b} missing="no match" /> },
];
