import { useState } from "preact/hooks";
import { TextArea } from "../components/field.tsx";
import { FileButton } from "../components/file-button.tsx";
import { Tag } from "../components/layout.tsx";
import { withErrorToast } from "../components/toast.tsx";
import { formatCount } from "../format.tsx";
import { readTextFile } from "../text-file.ts";
import { CorpusProtein, ProteinSearch } from "./protein-search.tsx";
import { looksLikeNucleotides, type ProteinInput } from "./protein-input.ts";

/** Takes proteins as text or files, and shows the recognized ones. */
export function ProteinField(props: {
  label: string;
  hint: string;
  value: string;
  input: ProteinInput;
  onInput: (text: string) => void;
  errors?: readonly string[] | undefined;
  rows?: number;
  /** True if proteins that are chosen by name are added to the others. */
  many?: boolean;
}) {
  const { input, onInput } = props;
  const [isDropTarget, setDropTarget] = useState(false);
  const accession =
    input.kind === "proteins" && input.entries.length === 1 && input.entries[0].sequence === null
      ? input.entries[0].name
      : null;
  const take = (files: Iterable<File>): Promise<void> =>
    withErrorToast(async () => {
      const texts = await Promise.all(Array.from(files, readTextFile));
      if (texts.length > 0) onInput(texts.map((text) => text.trim()).join("\n"));
    });
  return (
    <div
      class={isDropTarget ? "drop over" : "drop"}
      onDragOver={(event) => {
        event.preventDefault();
        setDropTarget(true);
      }}
      onDragLeave={() => setDropTarget(false)}
      onDrop={(event) => {
        event.preventDefault();
        setDropTarget(false);
        const text = event.dataTransfer?.getData("text/plain");
        if (event.dataTransfer?.files.length) void take(event.dataTransfer.files);
        else if (text) onInput(text);
      }}
    >
      <ProteinSearch onChoose={(chosen) => onInput(props.many ? appended(props.value, chosen) : chosen)} />
      <TextArea
        label={props.label}
        hint={props.hint}
        code
        rows={props.rows ?? 7}
        spellcheck={false}
        autocapitalize="none"
        autocomplete="off"
        value={props.value}
        onInput={onInput}
        errors={[...(props.errors ?? []), ...(input.kind === "wrong" ? [input.message] : [])]}
      />
      <div class="row between">
        <span role="status">
          {accession === null ? summarize(input) : <CorpusProtein {...{ accession }} onChoose={onInput} />}{" "}
          {input.kind === "proteins" && looksLikeNucleotides(input.entries) && (
            <Tag tone="warn">Looks like DNA or RNA: translate it first</Tag>
          )}
        </span>
        <FileButton
          label="File with proteins"
          accept=".fasta,.fa,.faa,.txt,.gz"
          onChoose={(files) => void take(files)}
        >
          Choose a file
        </FileButton>
      </div>
    </div>
  );
}

const appended = (text: string, line: string): string =>
  text.trim() === "" ? line : `${text.trimEnd()}\n${line}`;

function summarize(input: ProteinInput): string {
  if (input.kind !== "proteins") return "";
  const { entries } = input;
  const [{ name, sequence }] = entries;
  if (sequence === null) return `${entries.length} accessions or names`;
  const residues = entries.reduce((sum, entry) => sum + (entry.sequence?.length ?? 0), 0);
  const size = `${formatCount(residues)} residues`;
  if (entries.length > 1) return `${entries.length} sequences, ${size}`;
  return name === "" ? size : `${name}, ${size}`;
}
