import { useState } from "preact/hooks";
import { Confirm, type Question } from "../components/confirm.tsx";
import { Administration } from "../administration/frame.tsx";
import { formatCount, formatSize, Time } from "../format.tsx";
import { TaskList, useTasks } from "../administration/tasks.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { definePage } from "../page.tsx";
import { showToast } from "../components/toast.tsx";
import { Button } from "../components/button.tsx";
import { Empty } from "../components/empty.tsx";
import { ErrorBanner } from "../components/banner.tsx";
import { Checkbox, TextField } from "../components/field.tsx";
import { Table } from "../components/table.tsx";
import { requestJson, get, ApiError } from "../request.ts";

interface Corpus {
  name: string;
  hash: string;
  sequences: number;
  residues: number;
  bytes: number;
  added: string;
  active: boolean;
}

const PATH = "/api/admin/corpora";
const KINDS = ["corpus-add", "corpus-verify"];

function CorporaPage() {
  const { value, error, reload } = useLoaded("corpora", (signal) =>
    get<{ results: Corpus[] }>(PATH, {}, signal),
  );
  const [question, setQuestion] = useState<Question | null>(null);
  const { tasks, watch } = useTasks(KINDS, reload);
  const act = async (work: Promise<unknown>, said?: string): Promise<void> => {
    try {
      await work;
      if (said !== undefined) showToast(said);
    } catch (problem) {
      showToast((problem as Error).message, "error");
    }
    watch();
    reload();
  };
  const corpora = value?.results;
  return (
    <Administration path="/administration/corpora" title="Corpora">
      <p>
        Homologs are found in the corpus that is in use. Results keep the name of the one they were made with,
        also when it is removed.
      </p>
      {error !== undefined && <ErrorBanner error={error} retry={reload} />}
      <TaskList
        tasks={tasks}
        watch={watch}
        nameOf={({ kind, subject }) => `${kind === "corpus-add" ? "Adding" : "Verifying"} ${subject}`}
      />
      {corpora?.length === 0 && (
        <Empty title="No corpus yet">
          <p>Scoring finds no homologs without one. Add proteins below, such as Swiss-Prot.</p>
        </Empty>
      )}
      {corpora && corpora.length > 0 && (
        <Table
          caption="Corpora"
          rows={corpora}
          keyOf={({ hash }) => hash}
          columns={[
            {
              name: "name",
              title: "Name",
              heading: true,
              cell: (row) => (
                <>
                  {row.name} {row.active && <span class="tag good">in use</span>}
                </>
              ),
            },
            {
              name: "sequences",
              title: "Proteins",
              numeric: true,
              cell: (row) => formatCount(row.sequences),
            },
            { name: "residues", title: "Residues", numeric: true, cell: (row) => formatCount(row.residues) },
            { name: "bytes", title: "On disk", numeric: true, cell: (row) => formatSize(row.bytes) },
            { name: "added", title: "Added", cell: (row) => <Time at={row.added} /> },
            {
              name: "hash",
              title: "Content",
              cell: (row) => <code title={row.hash}>{row.hash.slice(0, 12)}</code>,
            },
            {
              name: "actions",
              title: <span class="unseen">What can be done</span>,
              cell: (row) => (
                <span class="row">
                  {!row.active && (
                    <Button
                      look="quiet"
                      aria-label={`Use ${row.name}`}
                      onClick={() =>
                        void act(requestJson("POST", `${PATH}/${row.hash}/use`), `${row.name} is in use.`)
                      }
                    >
                      Use
                    </Button>
                  )}
                  <Button
                    look="quiet"
                    aria-label={`Verify ${row.name}`}
                    onClick={() => void act(requestJson("POST", `${PATH}/${row.hash}/verify`))}
                  >
                    Verify
                  </Button>
                  {(!row.active || corpora.length === 1) && (
                    <Button
                      look="quiet"
                      aria-label={`Remove ${row.name}`}
                      onClick={() =>
                        setQuestion({
                          title: `Remove ${row.name}?`,
                          text: `Its ${formatCount(row.sequences)} proteins are deleted from the disk. Results stay, and go on naming it. To have it back, its file has to be added again.`,
                          verb: "Remove",
                          run: () => requestJson("DELETE", `${PATH}/${row.hash}`),
                          done: `${row.name} is removed.`,
                        })
                      }
                    >
                      Remove
                    </Button>
                  )}
                </span>
              ),
            },
          ]}
        />
      )}
      {value && <Add watch={watch} />}
      {question && <Confirm question={question} onClose={() => setQuestion(null)} onDone={reload} />}
    </Administration>
  );
}

function Add({ watch }: { watch: () => void }) {
  const [file, setFile] = useState<File | null>(null);
  const [name, setName] = useState("");
  const [use, setUse] = useState(true);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const fields = error instanceof ApiError ? error.fields : {};
  const choose = (chosen: File | undefined): void => {
    setFile(chosen ?? null);
    // As `labd corpus add` names it.
    if (chosen) setName(chosen.name.replace(/(\.(fasta|fa|faa|txt))?(\.(gz|zst))?$/i, ""));
  };
  const add = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (busy) return;
    if (!file) return setError(new ApiError(400, "invalid_request", "Choose a file first."));
    setBusy(true);
    setError(null);
    // The server tells of the file while it comes.
    const timer = setInterval(watch, 1000);
    try {
      await requestJson("POST", PATH, { query: { name, use: use ? 1 : null }, body: file });
      setFile(null);
    } catch (problem) {
      setError(problem);
    }
    clearInterval(timer);
    watch();
    setBusy(false);
  };
  return (
    <section class="card" aria-labelledby="add">
      <h2 id="add">Add a corpus</h2>
      <p>
        FASTA of proteins, plain or compressed with gzip or zstd, of any size. Stay on this page until the
        file is sent; packing goes on without it. The same proteins again add nothing.
      </p>
      {error !== null && Object.keys(fields).length === 0 && <ErrorBanner error={error} />}
      <form onSubmit={add}>
        <p>
          <label>
            <span class="unseen">File of proteins</span>
            <input
              type="file"
              accept=".fasta,.fa,.faa,.txt,.gz,.zst"
              onChange={(event) => choose(event.currentTarget.files?.[0])}
            />
          </label>
        </p>
        <TextField
          label="Name"
          hint="Results show it, so let it tell the version: swissprot-2026_01."
          required
          maxLength={200}
          value={name}
          onInput={setName}
          errors={fields.name}
        />
        <Checkbox label="Take it into use at once" checked={use} onChange={setUse} />
        <Button look="primary" type="submit" busy={busy}>
          Add
        </Button>
      </form>
    </section>
  );
}

export const administrationCorporaPage = definePage({
  name: "administration-corpora",
  paths: ["/administration/corpora"],
  title: "Corpora",
  View: CorporaPage,
});
