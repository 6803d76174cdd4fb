import { useEffect, useState } from "preact/hooks";
import { href } from "../address.ts";
import { ErrorBanner } from "../components/banner.tsx";
import { Button, LinkButton } from "../components/button.tsx";
import { TextField } from "../components/field.tsx";
import { FormError, useSubmission } from "../components/form.tsx";
import { Card, PageHead } from "../components/layout.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { formatTime } from "../format.tsx";
import { definePage, navigate, useQuery } from "../page.tsx";
import { ApiError, get, requestJson } from "../request.ts";
import { type Example, EXAMPLES } from "../score/examples.ts";
import {
  draft,
  type Job,
  jobPath,
  keepDraft,
  type Model,
  MOST_PER_JOB,
  type RecentJob,
  recentJobs,
  rememberJob,
} from "../score/job.ts";
import { ModelChoice, MotifsCard, NoCorpus, useMotifChoice } from "../score/motif-choice.tsx";
import { ProteinField } from "../score/protein-field.tsx";
import { readProtein } from "../score/protein-input.ts";
import type { Result } from "../score/result.ts";

function Score() {
  const [query, setQuery] = useQuery();
  const [protein, setProtein] = useState(query.get("protein") ?? "");
  const [name, setName] = useState("");
  const [model, setModel] = useState<Model>(
    query.get("model") === "discontinuous" ? "discontinuous" : "continuous",
  );
  const motifs = useMotifChoice(query);
  const { classes, setClasses, patterns, setPatterns, filled } = motifs;
  const input = readProtein(protein);
  const entries = input.kind === "proteins" ? input.entries : [];
  const accession = entries.length === 1 && entries[0].sequence === null ? entries[0].name : null;
  const chosen = { class: classes, pattern: filled };

  const from = query.get("from");
  const earlier = useLoaded(from, async (signal) => {
    const [job, { alignment }] = await Promise.all([
      get<Job>(jobPath(from!), {}, signal),
      get<Result>(`${jobPath(from!)}/result`, {}, signal),
    ]);
    if (alignment) setProtein((job.identifier ? `>${job.identifier}\n` : "") + alignment.query);
    setClasses(job.patterns.flatMap((pattern) => pattern.name ?? []));
    setPatterns(job.patterns.flatMap((pattern) => (pattern.name === null ? pattern.expression : [])));
    setModel(job.scoringModel ?? "continuous");
    // A reload must not undo changes.
    setQuery({ from: null }, { replace: true });
  });
  useEffect(() => {
    if (from === null && protein === "") setProtein(draft());
  }, []);
  useEffect(() => {
    // Accessions and motifs can be shared as a link; a sequence stays in this tab.
    setQuery(
      { protein: accession, ...chosen, model: model === "continuous" ? null : model },
      { replace: true },
    );
    keepDraft(accession === null ? protein : "");
  }, [protein, classes.join(), patterns.join("\n"), model]);

  const form = useSubmission(async () => {
    requireInput(input.kind, classes.length + filled.length);
    if (entries.length > 1) navigate("/batch", chosen);
    else {
      const [entry] = entries;
      const query =
        accession === null
          ? { identifier: entry.name || name || "protein", querySequence: entry.sequence }
          : { accession };
      const body = { ...query, patterns: filled, motifClasses: classes, scoringModel: model };
      const job = await requestJson<Job>("POST", "/api/scoring/jobs", { body });
      rememberJob(job.id, [job.identifier || "protein", ...classes, ...filled].join(" · "));
      navigate(`/score/${job.id}`);
    }
    return true;
  });
  const take = (example: Example): void => {
    setProtein(`>${example.name}\n${example.sequence}`);
    setClasses([...example.classes]);
    setPatterns([...example.patterns]);
  };
  return (
    <form class="stack" onSubmit={form.submit} noValidate>
      <PageHead
        title="Score a protein"
        actions={<LinkButton href={href("/batch", chosen)}>Score many proteins</LinkButton>}
      >
        Is a match of a short linear motif conserved in the homologs of its protein, and so likely to be
        functional?
      </PageHead>
      <NoCorpus />
      {earlier.error !== undefined && <ErrorBanner error={earlier.error} />}
      {protein.trim() === "" && <Examples onTake={take} />}
      <div class="columns">
        <Card title="Protein">
          <ProteinField
            label="Sequence, FASTA or accession"
            hint="Paste it or drop a file here, or enter the accession of a protein in the corpus, such as P04637."
            value={protein}
            input={input}
            onInput={setProtein}
            errors={[...(form.fields.querySequence ?? []), ...(form.fields.accession ?? [])]}
          />
          {entries[0]?.name === "" && (
            <TextField label="Name" optional value={name} onInput={setName} autocomplete="off" />
          )}
          <ModelChoice value={model} onChange={setModel} />
        </Card>
        <MotifsCard choice={motifs} most={MOST_PER_JOB} errors={form.fields} />
      </div>
      <FormError of={form} shown={["querySequence", "accession", "patterns", "motifClasses"]} focus />
      <div class="actions">
        <Button look="primary" type="submit" busy={form.busy}>
          {entries.length > 1 ? `Score ${entries.length} proteins` : "Score"}
        </Button>
      </div>
      <Recent />
    </form>
  );
}

/** @throws ApiError that names the field to fill in first */
function requireInput(kind: string, motifs: number): void {
  const missing =
    kind === "wrong"
      ? ["protein", "The protein cannot be read. Correct it as described below it."]
      : kind === "empty"
        ? ["querySequence", "Paste a protein, or choose an example above."]
        : motifs === 0 && ["motifClasses", "Choose a motif, or enter a pattern."];
  if (missing)
    throw new ApiError(400, "invalid_request", missing[1], { fields: { [missing[0]]: [missing[1]] } });
}

const Examples = ({ onTake }: { onTake: (example: Example) => void }) => (
  <section class="columns" aria-label="Examples">
    {EXAMPLES.map((example) => (
      <div key={example.name} class="note row">
        <p class="hint grow">{example.about}</p>
        <Button onClick={() => onTake(example)}>{example.title}</Button>
      </div>
    ))}
  </section>
);

function Recent() {
  const [jobs, setJobs] = useState<RecentJob[]>([]);
  useEffect(() => setJobs(recentJobs()), []);
  if (jobs.length === 0) return null;
  return (
    <Card title="Recent results of this browser" bare>
      <ul class="list">
        {jobs.map(({ id, title, time }) => (
          <li key={id}>
            <a href={href(`/score/${id}`)}>{title}</a>
            <small class="end">{formatTime(time)}</small>
          </li>
        ))}
      </ul>
    </Card>
  );
}

export const scorePage = definePage({
  name: "score",
  paths: ["/score"],
  title: "Score a protein",
  View: Score,
});
