import { useRef, useState } from "preact/hooks";
import { showToast } from "../components/toast.tsx";
import { Button } from "../components/button.tsx";
import { TextArea } from "../components/field.tsx";
import { readTextFile } from "../text-file.ts";
import { looksLikeNucleotides, type ProteinInput } from "./protein-input.ts";

/** Where proteins are pasted or dropped; says what was understood. */
export function ProteinField(props: {
  label: string;
  hint: string;
  value: string;
  understood: ProteinInput;
  onInput: (text: string) => void;
  errors?: readonly string[] | undefined;
  rows?: number;
}) {
  const { understood, onInput } = props;
  const [over, setOver] = useState(false);
  const chooser = useRef<HTMLInputElement>(null);
  const take = async (files: FileList | null | undefined): Promise<void> => {
    const texts: string[] = [];
    try {
      for (const file of files ?? []) texts.push((await readTextFile(file)).trim());
      if (texts.length > 0) onInput(texts.join("\n"));
    } catch (error) {
      showToast((error as Error).message, "error");
    }
  };
  const wrong = understood.kind === "wrong" ? [understood.message] : [];
  return (
    <div
      class={over ? "drop over" : "drop"}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        const text = event.dataTransfer?.getData("text/plain");
        if (event.dataTransfer?.files.length) void take(event.dataTransfer.files);
        else if (text) onInput(text);
      }}
    >
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
        errors={[...(props.errors ?? []), ...wrong]}
      />
      <p class="row understood">
        <span role="status">
          {words(understood)}
          {understood.kind === "proteins" && looksLikeNucleotides(understood.entries) && (
            <>
              {" "}
              <strong class="tag warn">This looks like DNA or RNA: translate it first</strong>
            </>
          )}
        </span>
        <Button look="quiet" onClick={() => chooser.current?.click()}>
          Choose a file…
        </Button>
        <input
          ref={chooser}
          type="file"
          class="unseen"
          tabIndex={-1}
          aria-label="File with a protein"
          accept=".fasta,.fa,.faa,.txt,.gz"
          onChange={(event) => void take(event.currentTarget.files)}
        />
      </p>
    </div>
  );
}

function words(understood: ProteinInput): string {
  if (understood.kind !== "proteins") return "";
  const { entries } = understood;
  const [{ name, sequence }] = entries;
  if (sequence === null)
    return entries.length > 1 ? `${entries.length} accessions, from the corpus` : `${name}, from the corpus`;
  const residues = entries.reduce((sum, entry) => sum + (entry.sequence?.length ?? 0), 0);
  const size = `${residues.toLocaleString("en")} residues`;
  if (entries.length > 1) return `${entries.length} sequences, ${size}`;
  return name === "" ? size : `${name}, ${size}`;
}
