import { administrationPage } from "../administration/page.tsx";
import { sendFile } from "../administration/tasks.tsx";
import { Form } from "../components/form.tsx";
import { Card, Tag } from "../components/layout.tsx";
import { formatCount, formatSize, pluralize, Time } from "../format.tsx";
import { type Answer, call } from "../request.ts";

type Corpus = Answer<"GET /api/admin/corpora">["results"][number];

const ofCorpus = ({ hash }: { hash: string }) => ({ params: { corpus: hash } });

export const administrationCorporaPage = administrationPage({
  section: "corpora",
  intro: () =>
    "Scoring finds homologs in the corpus in use. Results keep the name of their corpus, even after it is removed.",
  load: (_query, signal) => call("GET /api/admin/corpora", { signal }),
  rowKey: ({ hash }: Corpus) => hash,
  rowName: ({ name }) => name,
  empty: {
    title: "No corpus yet",
    text: "Scoring needs a corpus to find homologs. Add Swiss-Prot, for example.",
    isData: true,
  },
  tasks: ["corpus-add", "corpus-verify"],
  below: ({ watchTasks }) => <AddCorpus watchTasks={watchTasks} />,
  columns: [
    {
      name: "name",
      title: "Name",
      heading: true,
      cell: ({ name, active }) => (
        <>
          {name} {active && <Tag tone="ok">in use</Tag>}
        </>
      ),
    },
    { name: "sequences", title: "Proteins", numeric: true, cell: ({ sequences }) => formatCount(sequences) },
    { name: "residues", title: "Residues", numeric: true, cell: ({ residues }) => formatCount(residues) },
    { name: "bytes", title: "On disk", numeric: true, cell: ({ bytes }) => formatSize(bytes) },
    { name: "added", title: "Added", cell: ({ added }) => <Time at={added} /> },
    { name: "hash", title: "Hash", cell: ({ hash }) => <code title={hash}>{hash.slice(0, 12)}</code> },
  ],
  actions: [
    {
      label: "Use",
      applies: ({ active }) => !active,
      run: (corpus) => call("POST /api/admin/corpora/:corpus/use", ofCorpus(corpus)).then(() => {}),
      done: ({ name }) => `${name} is in use.`,
    },
    {
      label: "Verify",
      run: (corpus, { startTask }) =>
        startTask(() => call("POST /api/admin/corpora/:corpus/verify", ofCorpus(corpus))),
    },
    {
      label: "Remove",
      applies: ({ active }, { results }) => !active || results.length === 1,
      confirm: ({ name, sequences }) => ({
        title: `Remove ${name}?`,
        text: `This deletes ${pluralize(sequences, "protein")} from the disk. Results are kept. To get the corpus back, add its file again.`,
      }),
      run: (corpus) => call("DELETE /api/admin/corpora/:corpus", ofCorpus(corpus)).then(() => null),
      done: ({ name }) => `Removed ${name}.`,
    },
  ],
});

/** The name that `labd corpus add` would give it. */
const suggestName = (file: File | null): string =>
  file?.name.replace(/(\.(fasta|fa|faa|txt|dat|json))?(\.(gz|zst))?$/i, "") ?? "";

function AddCorpus({ watchTasks }: { watchTasks: () => void }) {
  const add = ({ file, name, use }: { file: File | null; name: string; use: boolean }) =>
    sendFile(file, watchTasks, (body) =>
      call("POST /api/admin/corpora", { query: { name, use: use ? "1" : undefined }, body }),
    );
  return (
    <Card title="Add a corpus">
      <p>Stay on this page until the file is uploaded. Proteins that already exist are not added again.</p>
      <Form
        submit="Add corpus"
        reset
        initial={{ file: null as File | null, name: "", use: true }}
        onSubmit={add}
        fields={[
          {
            name: "file",
            label: "Protein sequences",
            kind: "file",
            accept: ".fasta,.fa,.faa,.txt,.dat,.json,.gz,.zst",
            hint: "FASTA, or a flat file or JSON of UniProt, plain or compressed with gzip or zstd, of any size.",
            onChoose: (file) => ({ name: suggestName(file) }),
          },
          {
            name: "name",
            label: "Name",
            maxLength: 200,
            hint: "Shown with results. Include the version: swissprot-2026_01.",
          },
          { name: "use", label: "Use it immediately", kind: "checkbox" },
        ]}
      />
    </Card>
  );
}
