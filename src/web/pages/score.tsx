import { useEffect, useState } from "preact/hooks";
import { href } from "../address.ts";
import { definePage, navigate, useQuery } from "../page.tsx";
import { Button } from "../components/button.tsx";
import { ErrorBanner } from "../components/banner.tsx";
import { requestJson, get, ApiError } from "../request.ts";
import { draft, keepDraft } from "../score/draft.ts";
import { type Example, EXAMPLES } from "../score/examples.ts";
import {
  type Job,
  jobPath,
  type Model,
  MOST_PER_JOB,
  type RecentJob,
  recentJobs,
  rememberJob,
} from "../score/job.ts";
import { ModelChoice, MotifsCard, useMotifChoice } from "../score/motif-choice.tsx";
import { NoCorpus } from "../score/no-corpus.tsx";
import { ProteinField } from "../score/protein-field.tsx";
import { readProtein } from "../score/protein-input.ts";
import type { Result } from "../score/result.ts";

function Score() {
  const [query, setQuery] = useQuery();
  const [protein, setProtein] = useState(query.get("protein") ?? "");
  const [name, setName] = useState("");
  const motifs = useMotifChoice(query);
  const { classes, setClasses, patterns, setPatterns, wanted } = motifs;
  const [model, setModel] = useState<Model>(
    query.get("model") === "discontinuous" ? "discontinuous" : "continuous",
  );
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const understood = readProtein(protein);
  const entries = understood.kind === "proteins" ? understood.entries : [];
  /** As addresses have it. */
  const chosen = { class: classes, pattern: wanted };
  const accession = entries.length === 1 && entries[0].sequence === null ? entries[0].name : null;

  const from = query.get("from");
  useEffect(() => {
    if (from !== null) void fillFrom(from);
    else if (protein === "") setProtein(draft());
  }, []);
  useEffect(() => {
    // What is short and no secret can be shared as a link; a sequence stays in this tab.
    setQuery(
      {
        protein: accession,
        ...chosen,
        model: model === "continuous" ? null : model,
        from,
      },
      { replace: true },
    );
    keepDraft(accession === null ? protein : "");
  }, [protein, classes.join(), patterns.join("\n"), model]);

  async function fillFrom(id: string): Promise<void> {
    try {
      const [job, result] = await Promise.all([get<Job>(jobPath(id)), get<Result>(`${jobPath(id)}/result`)]);
      const heading = job.identifier ? `>${job.identifier}\n` : "";
      if (result.alignment) setProtein(heading + result.alignment.query);
      setClasses(job.patterns.flatMap((pattern) => pattern.name ?? []));
      setPatterns(job.patterns.flatMap((pattern) => (pattern.name === null ? pattern.expression : [])));
      setModel(job.scoringModel ?? "continuous");
      // From now on it is the person's own: a reload must not undo what was changed.
      setQuery({ from: null }, { replace: true });
    } catch (problem) {
      setError(problem);
    }
  }

  function take(example: Example): void {
    setProtein(`>${example.name}\n${example.sequence}`);
    setClasses([...example.classes]);
    setPatterns([...example.patterns]);
    setError(null);
  }

  async function submit(event: Event): Promise<void> {
    event.preventDefault();
    const missing = missingOf(understood.kind, classes.length + wanted.length);
    if (missing) return setError(missing);
    if (entries.length > 1) return navigate("/batch", chosen);
    setBusy(true);
    try {
      const job = await requestJson<Job>("POST", "/api/scoring/jobs", { body: body() });
      rememberJob(job.id, [job.identifier || "protein", ...classes, ...wanted].join(" · "));
      navigate(`/score/${job.id}`);
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  }

  function body(): object {
    const common = { patterns: wanted, motifClasses: classes, scoringModel: model };
    if (accession !== null) return { accession, ...common };
    const [entry] = entries;
    return { identifier: entry?.name || name || "protein", querySequence: entry?.sequence, ...common };
  }

  const fields = error instanceof ApiError ? error.fields : {};
  const hasFields = ["querySequence", "accession", "patterns", "motifClasses"].some(
    (field) => field in fields,
  );
  return (
    <>
      <h1>Score a motif</h1>
      <p class="lead">
        Is a match of a short linear motif conserved in the homologs of its protein, so that it is likely to
        be real?
      </p>
      <NoCorpus />
      {protein.trim() === "" && (
        <section class="examples" aria-label="Examples">
          {EXAMPLES.map((example) => (
            <div key={example.name} class="card">
              <Button onClick={() => take(example)}>{example.title}</Button>
              <p class="hint">{example.about}</p>
            </div>
          ))}
        </section>
      )}
      <form class="columns wide-first" onSubmit={submit} noValidate>
        <section class="card" aria-labelledby="protein">
          <h2 id="protein">Protein</h2>
          <ProteinField
            label="Sequence, FASTA or accession"
            hint="Paste it, drop a file here, or name a protein of the corpus, such as P04637."
            value={protein}
            understood={understood}
            onInput={(text) => {
              setProtein(text);
              setError(null);
            }}
            errors={[...(fields.querySequence ?? []), ...(fields.accession ?? [])]}
          />
          {entries[0]?.name === "" && (
            <div class="field">
              <label for="name">
                Name <small>optional; it comes back with the result</small>
              </label>
              <input
                id="name"
                type="text"
                value={name}
                onInput={(event) => setName(event.currentTarget.value)}
                autocomplete="off"
              />
            </div>
          )}
          <ModelChoice value={model} onChange={setModel} />
        </section>
        <MotifsCard choice={motifs} most={MOST_PER_JOB} errors={fields} />
        <div class="submit">
          {error !== null && !hasFields && <ErrorBanner error={error} focus />}
          {entries.length > 1 ? (
            <>
              <Button look="primary" type="submit">
                Score {entries.length} proteins as a batch
              </Button>
            </>
          ) : (
            <Button look="primary" type="submit" busy={busy}>
              Score
            </Button>
          )}{" "}
          <a href={href("/batch", chosen)}>Many proteins at once</a>
        </div>
      </form>
      <Recent />
    </>
  );
}

/** What has to be filled in first, as a refusal that says so. */
function missingOf(kind: string, motifs: number): ApiError | null {
  const say = (field: string, text: string): ApiError =>
    new ApiError(400, "invalid_request", text, { fields: { [field]: [text] } });
  if (kind === "wrong") return say("other", "The protein cannot be read yet: see what is said below it.");
  if (kind === "empty") return say("querySequence", "Paste a protein first, or take an example above.");
  if (motifs === 0) return say("motifClasses", "Choose a motif, or write a pattern below.");
  return null;
}

function Recent() {
  const [jobs, show] = useState<RecentJob[]>([]);
  useEffect(() => show(recentJobs()), []);
  if (jobs.length === 0) return null;
  return (
    <section class="recent">
      <h2>Scored from this browser</h2>
      <ul>
        {jobs.map(({ id, title, time }) => (
          <li key={id}>
            <a href={href(`/score/${id}`)}>{title}</a>{" "}
            <small>
              {new Date(time).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" })}
            </small>
          </li>
        ))}
      </ul>
    </section>
  );
}

export const scorePage = definePage({
  name: "score",
  paths: ["/score"],
  title: "Score a motif",
  View: Score,
});
