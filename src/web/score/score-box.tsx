import { useState } from "preact/hooks";
import type { ProteinObject } from "../../scoring/index.ts";
import { href } from "../address.ts";
import { Button } from "../components/button.tsx";
import { Combobox } from "../components/combobox.tsx";
import { SelectField } from "../components/field.tsx";
import { FileButton } from "../components/file-button.tsx";
import { FormError, useSubmission } from "../components/form.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { withErrorToast } from "../components/toast.tsx";
import { pluralize, formatCount } from "../format.tsx";
import { navigate } from "../page.tsx";
import { call } from "../request.ts";
import { readTextFile } from "../text-file.ts";
import { EXAMPLES } from "./examples.ts";
import { proteinDraft, startJob } from "./job.ts";
import { shortJobTitle } from "./protein-identity.tsx";
import { type Entry, readProtein } from "./protein-input.ts";
import { findProteins, ProteinOption } from "./protein-search.tsx";
import { NoCorpus, refuse } from "./score-form.tsx";

/** A protein of the corpus, or sequences as they were typed. */
type Option = ProteinObject | { sequences: string };

interface Chosen {
  /** Text in the form that `readProtein` reads. */
  text: string;
  shown: string;
}

const NOTHING: Chosen = { text: "", shown: "" };
/** Residues of the shortest text that is taken for a sequence. */
const SHORTEST = 20;

const parseEntries = (text: string): readonly Entry[] => {
  const input = readProtein(text);
  return input.kind === "proteins" ? input.entries : [];
};

const isSequence = (text: string): boolean => (parseEntries(text)[0]?.sequence?.length ?? 0) >= SHORTEST;

/** The sequences that the field shows. */
function shownText(text: string): string {
  const entries = parseEntries(text);
  if (entries.length > 1) return pluralize(entries.length, "protein");
  const { name, sequence } = entries[0] ?? { name: text, sequence: null };
  return [name, sequence && `${formatCount(sequence.length)} residues`].filter(Boolean).join(", ");
}

/** `TP53, Homo sapiens, P04637`; without a gene the accession comes first, and only once. */
const optionText = (protein: ProteinObject): string =>
  [
    ...new Set(
      [shortJobTitle({ protein, identifier: null }), protein.gene === null ? [] : protein.accession].flat(),
    ),
  ].join(", ");

/** Scores one protein for a motif, or scans it for all. */
export function ScoreBox() {
  const [chosen, setChosen] = useState(NOTHING);
  const [motif, setMotif] = useState("");
  const classes = useLoaded("classes", (signal) => call("GET /api/scoring/motif-classes", { signal }));
  const known = classes.value?.results ?? [];
  // Examples have names of built-in classes, which an imported table may have replaced.
  const choose = (name: string): void =>
    setMotif(known.find((one) => one.aliases.includes(name))?.name ?? name);
  const form = useSubmission(async () => {
    const entries = parseEntries(chosen.text);
    if (entries.length === 0) refuse("protein", "Choose a protein, or paste a sequence.");
    if (entries.length > 1) {
      proteinDraft.keep(chosen.text);
      navigate("/score", { class: motif });
      return true;
    }
    const job = await startJob(entries[0], motif === "" ? [] : [motif]);
    navigate(`/${motif === "" ? "scan" : "score"}/${job.id}`);
    return true;
  });
  const take = (text: string): void => setChosen({ text, shown: shownText(text) });
  return (
    <section class="card score-box" aria-labelledby="score-box">
      <div class="row between">
        <h2 id="score-box">Score a protein</h2>
        <nav class="segment" aria-label="Proteins to score">
          <a href={href("/")} aria-current="page">
            One protein
          </a>
          <a href={href("/batch")}>Many</a>
          <a href={href("/proteome")}>Proteome</a>
        </nav>
      </div>
      <NoCorpus />
      <form class="score-line" onSubmit={form.submit} noValidate>
        <div
          // A line takes no line breaks, which FASTA needs.
          onPaste={(event) => {
            const text = event.clipboardData?.getData("text/plain") ?? "";
            if (!isSequence(text)) return;
            event.preventDefault();
            take(text);
          }}
        >
          <ProteinInput chosen={chosen} errors={form.fields.protein} onChoose={setChosen} />
        </div>
        <SelectField
          label="Motifs"
          hideLabel
          value={motif}
          choices={[
            { value: "", name: `All ${known.length || ""} motif classes` },
            ...known.map((one) => ({
              value: one.name,
              name: one.title === "" ? one.name : `${one.title}, ${one.name}`,
            })),
          ]}
          onChange={setMotif}
        />
        <Button look="primary" type="submit" busy={form.busy}>
          Score
        </Button>
      </form>
      <FormError of={form} shown={["protein"]} />
      <div class="row">
        <span class="hint">Try</span>
        {EXAMPLES.map(({ title, name, sequence, classes: [motifClass] }) => (
          <button
            key={name}
            type="button"
            class="chip"
            onClick={() => {
              take(`>${name}\n${sequence}`);
              choose(motifClass);
            }}
          >
            {title.replace("Try ", "")}
          </button>
        ))}
        <CorpusInUse />
        <span class="end">
          <FileButton
            label="File with proteins"
            accept=".fasta,.fa,.faa,.txt,.gz"
            onChoose={([file]) => void withErrorToast(async () => take(await readTextFile(file)))}
          >
            Open a file
          </FileButton>
        </span>
      </div>
    </section>
  );
}

function ProteinInput(props: {
  chosen: Chosen;
  errors: readonly string[] | undefined;
  onChoose: (chosen: Chosen) => void;
}) {
  const choose = (option: Option): void =>
    props.onChoose(
      "sequences" in option
        ? { text: option.sequences, shown: shownText(option.sequences) }
        : {
            text: option.accession,
            shown: optionText(option),
          },
    );
  return (
    <Combobox<Option>
      label="Protein"
      hideLabel
      placeholder="Gene, accession, FASTA or sequence"
      shown={props.chosen.shown}
      errors={props.errors}
      allowsTypedOnly
      search={async (text, signal) =>
        isSequence(text) ? { options: [{ sequences: text }] } : findProteins(text, signal)
      }
      optionKey={(option) => ("sequences" in option ? option.sequences : option.accession)}
      chooseOnLeave={(typed, options) =>
        typed === ""
          ? { sequences: "" }
          : options.find((option) => "sequences" in option || option.accession === typed.toUpperCase())
      }
      onChoose={choose}
    >
      {(option) =>
        "sequences" in option ? (
          <>Use this sequence, {shownText(option.sequences)}</>
        ) : (
          <ProteinOption of={option} />
        )
      }
    </Combobox>
  );
}

function CorpusInUse() {
  const { value } = useLoaded("corpus", (signal) => call("GET /api/scoring/corpus", { signal }));
  return value ? (
    <span class="hint">
      Homologs come from {value.name}, {pluralize(value.sequences, "protein")}.
    </span>
  ) : null;
}
