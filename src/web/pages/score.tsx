import { readResult } from "../score/result.ts";
import { useEffect, useState } from "preact/hooks";
import { href } from "../address.ts";
import { ErrorBanner } from "../components/banner.tsx";
import { Button, LinkButton } from "../components/button.tsx";
import { TextField } from "../components/field.tsx";
import { useSubmission } from "../components/form.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { definePage, navigate, useQuery } from "../page.tsx";
import { type Example, EXAMPLES } from "../score/examples.ts";
import { proteinDraft, submitJob, readJob } from "../score/job.ts";
import type { Entry } from "../score/protein-input.ts";
import { ResultList } from "../score/recent-results.tsx";
import { HomologCard, HomologSource, OwnAlignmentField, useHomologChoice } from "../score/homolog-choice.tsx";
import { evidenceOf } from "../score/score-again.tsx";
import { refuse, ScoreForm, useScoreInput } from "../score/score-form.tsx";

function Score() {
  const [query, setQuery] = useQuery();
  const of = useScoreInput(query);
  const { text, setText, entries, classes, setClasses, filled, patterns, setPatterns, model, setModel } = of;
  const [name, setName] = useState("");
  const homologs = useHomologChoice(query);
  /** The result that the form was filled from. */
  const [first, setFirst] = useState<string | null>(null);
  const accession = entries.length === 1 && entries[0].sequence === null ? entries[0].name : null;
  const chosen = { class: classes, pattern: filled };

  const from = query.get("from");
  const earlier = useLoaded(from, async (signal) => {
    const [job, result] = await Promise.all([readJob(from!, signal), readResult(from!, signal)]);
    const { alignment } = result;
    setFirst(from);
    homologs.fill(job, result);
    if (alignment && !job.hasOwnAlignment)
      setText((job.identifier ? `>${job.identifier}\n` : "") + alignment.query);
    setClasses(job.patterns.flatMap((pattern) => pattern.name ?? []));
    setPatterns(job.patterns.flatMap((pattern) => (pattern.name === null ? pattern.expression : [])));
    setModel(job.scoringModel ?? "continuous");
    of.setEvidence(evidenceOf(result));
    // A reload must not undo changes.
    setQuery({ from: null }, { replace: true });
  });
  useEffect(() => {
    if (from === null && text === "") setText(proteinDraft.read());
  }, []);
  useEffect(() => {
    // Accessions and motifs can be shared as a link; a sequence stays in this tab.
    setQuery(
      { protein: accession, ...chosen, ...homologs.draft, model: model === "continuous" ? null : model },
      { replace: true },
    );
    proteinDraft.keep(accession === null ? text : "");
  }, [text, classes.join(), patterns.join("\n"), model, homologs.draft]);

  const form = useSubmission(async () => {
    of.requireInput(homologs.isOwn ? null : "Paste a protein, or choose an example above.");
    if (!homologs.isOwn && entries.length > 1) {
      if (homologs.isChosen) refuse("homologs", "Homologs can be chosen for one protein. Remove the others.");
      navigate("/batch", chosen);
      return true;
    }
    const protein = homologs.isOwn ? {} : toProtein(entries[0], name);
    const body = {
      ...protein,
      ...homologs.fields(),
      patterns: filled,
      motifClasses: classes,
      scoringModel: model,
      ...of.evidence,
    };
    const job = await submitJob(body);
    navigate(`/score/${job.id}`, { first });
    return true;
  });
  const take = (example: Example): void => {
    setText(`>${example.name}\n${example.sequence}`);
    setClasses(example.classes);
    setPatterns(example.patterns);
  };
  return (
    <ScoreForm
      {...{ of, form }}
      title="Score a protein"
      lead="Is a match of a short linear motif likely to be functional? labd judges its conservation in homologs and its context."
      actions={<LinkButton href={href("/batch", chosen)}>Score many proteins</LinkButton>}
      protein={{
        title: "Protein",
        label: "Sequence, FASTA or accession",
        hint: "Paste it or drop a file here, or enter the accession of a protein in the corpus, such as P04637.",
      }}
      source={<HomologSource of={homologs} />}
      instead={homologs.isOwn && <OwnAlignmentField of={homologs} errors={form.fields} />}
      more={!homologs.isOwn && <HomologCard of={homologs} errors={form.fields} />}
      shown={["homologs", "alignment", "alignmentQuery"]}
      extra={
        !homologs.isOwn &&
        entries[0]?.name === "" && (
          <TextField label="Name" optional value={name} onInput={setName} autocomplete="off" />
        )
      }
      submit={!homologs.isOwn && entries.length > 1 ? `Score ${entries.length} proteins` : "Score"}
      examples={
        <>
          {earlier.error !== undefined && <ErrorBanner error={earlier.error} />}
          {text.trim() === "" && !homologs.isOwn && <Examples onChoose={take} />}
        </>
      }
    >
      <ResultList title="Recent results" kinds={["job"]} shown={5} />
    </ScoreForm>
  );
}

/** The protein as a job takes it. */
const toProtein = ({ name, sequence }: Entry, otherwise: string): object =>
  sequence === null
    ? { accession: name }
    : { identifier: name || otherwise || "protein", querySequence: sequence };

const Examples = ({ onChoose }: { onChoose: (example: Example) => void }) => (
  <section class="columns" aria-label="Examples">
    {EXAMPLES.map((example) => (
      <div key={example.name} class="note row">
        <p class="hint grow">{example.about}</p>
        <Button onClick={() => onChoose(example)}>{example.title}</Button>
      </div>
    ))}
  </section>
);

export const scorePage = definePage({
  name: "score",
  paths: ["/score"],
  title: "Score a protein",
  View: Score,
});
