import { administrationPage } from "../administration/page.tsx";
import { sendFile } from "../administration/tasks.tsx";
import { Form } from "../components/form.tsx";
import { Card } from "../components/layout.tsx";
import { formatCount, formatSize, pluralize, Time } from "../format.tsx";
import { type Answer, call } from "../request.ts";
import { type FeatureGroup, GROUP_ORDER, GROUPS } from "../score/features.ts";

type FeatureFile = Answer<"GET /api/admin/features">["results"][number];
type Formats = Answer<"GET /api/admin/features">["formats"];

export const administrationFeaturesPage = administrationPage({
  section: "features",
  intro: () =>
    "Features of proteins of the corpus: domains, modifications, motif instances. Results and scans show them; with enough instances of a motif class, its matches are scored by what they have in common.",
  load: (_query, signal) => call("GET /api/admin/features", { signal }),
  rowKey: ({ name }: FeatureFile) => name,
  rowName: ({ name }) => name,
  empty: {
    title: "No features yet",
    text: "Import ELM's instances or UniProt, for example, to see known sites beside the scores.",
    isData: true,
  },
  tasks: ["features-add"],
  below: ({ data, watchTasks }) => <AddFeatures formats={data.formats} watchTasks={watchTasks} />,
  columns: [
    {
      name: "name",
      title: "File",
      heading: true,
      cell: ({ name, format, bytes }) => (
        <>
          <span class="anywhere">{name}</span>
          <small class="second-line">
            {format}, {formatSize(bytes)}
          </small>
        </>
      ),
    },
    { name: "features", title: "Features", numeric: true, cell: ({ features }) => formatCount(features) },
    {
      name: "proteins",
      title: "Proteins",
      numeric: true,
      cell: ({ proteins, corpus }) => <span title={`of ${corpus}`}>{formatCount(proteins)}</span>,
    },
    {
      name: "groups",
      title: "Groups",
      cell: ({ groups }) =>
        Object.entries(groups)
          .map(([group, count]) => `${group} ${formatCount(count)}`)
          .join(", "),
    },
    { name: "left", title: "Not shown", cell: (file) => <NotShown file={file} /> },
    { name: "imported", title: "Imported", cell: ({ imported }) => <Time at={imported} /> },
  ],
  actions: [
    {
      label: "Remove",
      confirm: ({ name, features }) => ({
        title: `Remove ${name}?`,
        text: `Results no longer show its ${formatCount(features)} features. To get them back, import the file again.`,
      }),
      run: ({ name }) => call("DELETE /api/admin/features/:name", { params: { name } }).then(() => null),
      done: ({ name }) => `Removed ${name}.`,
    },
  ],
});

/** Names that matched no protein, and features of other sequences. */
function NotShown({ file: { unmatched, flagged } }: { file: FeatureFile }) {
  const reasons = Object.entries(flagged);
  if (unmatched.features === 0 && reasons.length === 0) return <>–</>;
  return (
    <>
      {unmatched.features > 0 && (
        <span>
          {pluralize(unmatched.features, "feature")} of{" "}
          {pluralize(unmatched.proteins, "identifier that matches", "identifiers that match")} no protein,{" "}
          such as {unmatched.examples.slice(0, 3).join(", ")}
        </span>
      )}
      {reasons.map(([reason, count]) => (
        <small key={reason} class="second-line">
          {formatCount(count)} {reason}
        </small>
      ))}
    </>
  );
}

const choices = (values: readonly (readonly [string, string])[]) =>
  values.map(([value, name]) => ({ value, name }));

interface Chosen {
  file: File | null;
  name: string;
  format: Formats[number]["name"] | "";
  group: FeatureGroup | "";
}
const NO_CHOICE: Chosen = { file: null, name: "", format: "", group: "" };

function AddFeatures({ formats, watchTasks }: { formats: Formats; watchTasks: () => void }) {
  const add = ({ file, name, format, group }: Chosen) => {
    const query = { name, format: format || undefined, group: group || undefined };
    return sendFile(file, watchTasks, (body) => call("POST /api/admin/features", { query, body }));
  };
  return (
    <Card title="Import features">
      <p>
        Proteins are found by accession or entry name in the corpus in use. A file of the same name is
        replaced.
      </p>
      <Form
        submit="Import features"
        reset
        initial={NO_CHOICE}
        onSubmit={add}
        fields={[
          {
            name: "file",
            label: "Features",
            kind: "file",
            accept: ".tsv,.txt,.dat,.json,.xml,.gff,.gff3,.bed,.gz,.zst",
            hint: "In one of the formats below, plain or compressed with gzip or zstd, of any size.",
            onChoose: (file) => ({ name: file?.name ?? "" }),
          },
          { name: "name", label: "Name", maxLength: 200 },
          {
            name: "format",
            label: "Format",
            kind: "select",
            choices: [
              { value: "", name: "Detect from the content" },
              ...formats.map(({ name, title }) => ({ value: name, name: title })),
            ],
          },
          {
            name: "group",
            label: "Group",
            hint: "For files whose types say too little, such as BED.",
            kind: "select",
            choices: choices([
              ["", "By their types"],
              ...GROUP_ORDER.map((group) => [group, GROUPS[group].name] as const),
            ]),
          },
        ]}
      />
    </Card>
  );
}
