import { useState } from "preact/hooks";
import { AdministrationFrame, defineAdministration } from "../administration/page.tsx";
import { Banner, ErrorBanner } from "../components/banner.tsx";
import { Button } from "../components/button.tsx";
import { confirm } from "../components/confirm.tsx";
import { DataLink } from "../components/data-link.tsx";
import { FileField, SelectField } from "../components/field.tsx";
import { useSubmission } from "../components/form.tsx";
import { Card, Tag } from "../components/layout.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { Table } from "../components/table.tsx";
import { showToast } from "../components/toast.tsx";
import { formatCount, Time } from "../format.tsx";
import { type Answer, call } from "../request.ts";

type MotifClasses = Answer<"GET /api/admin/motif-classes">;
type Preview = Extract<Answer<"PUT /api/admin/motif-classes">, { rows: unknown }>;
type Row = Preview["rows"][number];
type Verdict = Row["verdict"];

const VERDICTS = {
  wrong: { tone: "danger", name: "Invalid" },
  new: { tone: "ok", name: "New" },
  changed: { tone: "warn", name: "Pattern differs" },
  same: { tone: undefined, name: "Unchanged" },
} as const;
const ROWS_SHOWN = 200;

function MotifClassesPage() {
  const loaded = useLoaded("motif-classes", (signal) => call("GET /api/admin/motif-classes", { signal }));
  return (
    <AdministrationFrame section="motif-classes">
      <Loaded of={loaded}>
        {(value) => (
          <>
            <InUse value={value} onRemoved={loaded.reload} />
            <Import onImported={(imported) => loaded.update(() => imported)} />
          </>
        )}
      </Loaded>
    </AdministrationFrame>
  );
}

function InUse({ value: { classes, imported }, onRemoved }: { value: MotifClasses; onRemoved: () => void }) {
  const remove = (): void =>
    confirm({
      title: `Remove ${imported?.name}?`,
      text: "The classes that come with labd are used again. Existing results do not change.",
      verb: `Remove ${imported?.name}`,
      run: () => call("DELETE /api/admin/motif-classes").then(onRemoved),
      done: "Removed the imported table.",
    });
  return (
    <Card title="In use" count={`${formatCount(classes)} classes`}>
      {imported === null ? (
        <p>These classes come with labd. Import ELM's table to use all of its classes.</p>
      ) : (
        <>
          <p>
            {formatCount(imported.size)} classes from <strong>{imported.name}</strong>
            {imported.version && `, version ${imported.version}`}
            {imported.published && ` (${imported.published})`}, imported <Time at={imported.imported} />. The
            others come with labd.
          </p>
          <div class="actions">
            <Button onClick={remove}>Remove table</Button>
          </div>
        </>
      )}
    </Card>
  );
}

function Import({ onImported }: { onImported: (value: MotifClasses) => void }) {
  const [file, setFile] = useState<File | null>(null);
  const [preview, setPreview] = useState<Preview | null>(null);
  const [error, setError] = useState<unknown>(null);
  const choose = async (chosen: File | null): Promise<void> => {
    setFile(chosen);
    setPreview(null);
    setError(null);
    if (!chosen) return;
    try {
      const query = { dry_run: "1" };
      setPreview((await call("PUT /api/admin/motif-classes", { query, body: chosen })) as Preview);
    } catch (problem) {
      setError(problem);
    }
  };
  const form = useSubmission(async () => {
    const query = { name: file!.name };
    const value = (await call("PUT /api/admin/motif-classes", { query, body: file! })) as MotifClasses;
    showToast(`${formatCount(value.classes)} motif classes are in use.`);
    setPreview(null);
    onImported(value);
  });
  const invalid = preview?.rows.filter(({ verdict }) => verdict === "wrong").length ?? 0;
  const isValid = invalid === 0 && preview?.problems.length === 0;
  const shownError = error ?? form.error;
  return (
    <Card title="Import a table" actions={<DataLink />}>
      <FileField
        label="Table of motif classes"
        hint="The tab-separated file of classes from elm.eu.org. You can check every row before you import it."
        accept=".tsv,.txt"
        onChange={(chosen) => void choose(chosen)}
      />
      {shownError !== null && <ErrorBanner error={shownError} />}
      {preview?.problems.map((text) => (
        <Banner key={text} tone="danger">
          {text}
        </Banner>
      ))}
      {preview && <PreviewTable rows={preview.rows} />}
      {preview && isValid && (
        <div class="actions">
          <Button look="primary" busy={form.busy} onClick={form.submit}>
            {`Import ${formatCount(preview.rows.length)} classes`}
          </Button>
        </div>
      )}
      {preview && !isValid && (
        <p role="status">
          {`Nothing was imported: correct ${invalid === 1 ? "the invalid row" : "the file"} and choose it again.`}
        </p>
      )}
    </Card>
  );
}

function PreviewTable({ rows }: { rows: readonly Row[] }) {
  const of = (verdict: Verdict): Row[] => rows.filter((row) => row.verdict === verdict);
  const [shown, show] = useState<Verdict | "all">(of("wrong").length > 0 ? "wrong" : "all");
  return (
    <>
      <SelectField
        label="Rows"
        value={shown}
        choices={[
          { value: "all", name: `All (${formatCount(rows.length)})` },
          ...(Object.keys(VERDICTS) as Verdict[]).map((verdict) => ({
            value: verdict,
            name: `${VERDICTS[verdict].name} (${formatCount(of(verdict).length)})`,
          })),
        ]}
        onChange={show}
      />
      <Table
        caption="Rows of the file"
        rows={shown === "all" ? rows : of(shown)}
        first={{ rows: ROWS_SHOWN, of: "rows" }}
        rowKey={({ line }) => line}
        columns={[
          { name: "line", title: "Line", numeric: true, cell: ({ line }) => line },
          { name: "name", title: "Class", heading: true, cell: ({ name }) => name ?? "–" },
          {
            name: "verdict",
            title: "Status",
            phone: "end",
            cell: ({ verdict }) => <Tag tone={VERDICTS[verdict].tone}>{VERDICTS[verdict].name}</Tag>,
          },
          {
            name: "expression",
            title: "Pattern or problem",
            cell: ({ problem, expression }) => problem ?? <code>{expression}</code>,
          },
        ]}
      />
    </>
  );
}

export const administrationMotifClassesPage = defineAdministration("motif-classes", MotifClassesPage);
