import { useState } from "preact/hooks";
import { Confirm, type Question } from "../components/confirm.tsx";
import { Administration } from "../administration/frame.tsx";
import { formatCount, Time } from "../format.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { definePage } from "../page.tsx";
import { showToast } from "../components/toast.tsx";
import { Button } from "../components/button.tsx";
import { ErrorBanner } from "../components/banner.tsx";
import { SelectField } from "../components/field.tsx";
import { Table } from "../components/table.tsx";
import { requestJson, get } from "../request.ts";

interface InUse {
  classes: number;
  imported: {
    name: string;
    hash: string;
    version: string | null;
    published: string | null;
    imported: string;
    size: number;
  } | null;
}

type Verdict = "wrong" | "new" | "changed" | "same";
interface Row {
  line: number;
  name: string | null;
  expression: string | null;
  problem: string | null;
  verdict: Verdict;
}
interface Judged {
  version: string | null;
  published: string | null;
  problems: string[];
  rows: Row[];
}

const PATH = "/api/admin/motif-classes";
const VERDICTS: Record<Verdict, { tone: string; word: string }> = {
  wrong: { tone: "bad", word: "wrong" },
  new: { tone: "good", word: "new" },
  changed: { tone: "warn", word: "another pattern" },
  same: { tone: "", word: "as it is" },
};
/** Rows that are shown at once: a browser lays out no thousands of them quickly. */
const SHOWN = 200;

function MotifClassesPage() {
  const { value, error, reload } = useLoaded("motif-classes", (signal) => get<InUse>(PATH, {}, signal));
  const [question, setQuestion] = useState<Question | null>(null);
  const [file, setFile] = useState<File | null>(null);
  const [judged, setJudged] = useState<Judged | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const choose = async (chosen: File | undefined): Promise<void> => {
    setFile(chosen ?? null);
    setJudged(null);
    setProblem(null);
    if (!chosen) return;
    try {
      setJudged(await requestJson<Judged>("PUT", PATH, { query: { dry_run: 1 }, body: chosen }));
    } catch (refused) {
      setProblem(refused);
    }
  };
  const take = async (): Promise<void> => {
    setBusy(true);
    try {
      const { classes } = await requestJson<InUse>("PUT", PATH, { query: { name: file!.name }, body: file });
      showToast(`${formatCount(classes)} motif classes are in use.`);
      setFile(null);
      setJudged(null);
      reload();
    } catch (refused) {
      setProblem(refused);
    }
    setBusy(false);
  };
  const wrong = judged ? judged.rows.filter(({ verdict }) => verdict === "wrong").length : 0;
  const isGood = judged !== null && wrong === 0 && judged.problems.length === 0;
  return (
    <Administration path="/administration/motif-classes" title="Motif classes">
      {error !== undefined && <ErrorBanner error={error} retry={reload} />}
      {value && (
        <section class="card" aria-labelledby="in-use">
          <h2 id="in-use">{formatCount(value.classes)} classes in use</h2>
          {value.imported ? (
            <>
              <p>
                {formatCount(value.imported.size)} of them from <strong>{value.imported.name}</strong>
                {value.imported.version && `, version ${value.imported.version}`}
                {value.imported.published && ` (${value.imported.published})`}, imported{" "}
                <Time at={value.imported.imported} />; the others come with the program.
              </p>
              <Button
                look="danger"
                onClick={() =>
                  setQuestion({
                    title: "Give the imported table up?",
                    text: "The classes that come with the program count again. Results stay as they are.",
                    verb: "Give it up",
                    run: () => requestJson("DELETE", PATH),
                    done: "The imported table is given up.",
                  })
                }
              >
                Give the table up
              </Button>
            </>
          ) : (
            <p>They come with the program. Import ELM's own table to have all of its classes.</p>
          )}
        </section>
      )}
      {value && (
        <section class="card" aria-labelledby="import">
          <h2 id="import">Import a table</h2>
          <p>
            The file of classes as the ELM resource (elm.eu.org) offers it for download, tab-separated. You
            see a verdict on every row first.
          </p>
          <p>
            <label>
              <span class="unseen">Table of motif classes</span>
              <input
                type="file"
                accept=".tsv,.txt"
                // Else nothing happens where the same file, mended, is chosen again.
                onClick={(event) => (event.currentTarget.value = "")}
                onChange={(event) => void choose(event.currentTarget.files?.[0])}
              />
            </label>
          </p>
          {problem !== null && <ErrorBanner error={problem} />}
          {judged?.problems.map((text) => (
            <p key={text} class="failure">
              {text}
            </p>
          ))}
          {judged && <Verdicts rows={judged.rows} />}
          {isGood && (
            <p class="actions">
              <Button look="primary" busy={busy} onClick={() => void take()}>
                {`Import ${formatCount(judged.rows.length)} classes`}
              </Button>
            </p>
          )}
          {judged && !isGood && (
            <p role="status">
              Nothing is imported while {wrong === 1 ? "a row is" : "rows are"} wrong: mend the file and
              choose it again.
            </p>
          )}
        </section>
      )}
      {question && <Confirm question={question} onClose={() => setQuestion(null)} onDone={reload} />}
    </Administration>
  );
}

function Verdicts({ rows }: { rows: readonly Row[] }) {
  const of = (verdict: Verdict): Row[] => rows.filter((row) => row.verdict === verdict);
  const [shown, show] = useState<Verdict | "all">(of("wrong").length > 0 ? "wrong" : "all");
  const chosen = shown === "all" ? rows : of(shown);
  return (
    <>
      <SelectField
        label="Rows"
        value={shown}
        choices={[
          { value: "all", name: `all (${formatCount(rows.length)})` },
          ...(Object.keys(VERDICTS) as Verdict[]).map((verdict) => ({
            value: verdict,
            name: `${VERDICTS[verdict].word} (${formatCount(of(verdict).length)})`,
          })),
        ]}
        onChange={show}
      />
      <Table
        caption={
          chosen.length > SHOWN
            ? `The first ${SHOWN} of ${formatCount(chosen.length)} rows`
            : "Verdict on each row"
        }
        rows={chosen.slice(0, SHOWN)}
        keyOf={({ line }) => line}
        columns={[
          { name: "line", title: "Line", numeric: true, cell: (row) => row.line },
          {
            name: "verdict",
            title: "Verdict",
            cell: ({ verdict }) => (
              <span class={`tag ${VERDICTS[verdict].tone}`}>{VERDICTS[verdict].word}</span>
            ),
          },
          { name: "name", title: "Class", heading: true, cell: (row) => row.name ?? "–" },
          {
            name: "expression",
            title: "Pattern, or what is wrong",
            cell: (row) => row.problem ?? <code>{row.expression}</code>,
          },
        ]}
      />
    </>
  );
}

export const administrationMotifClassesPage = definePage({
  name: "administration-motif-classes",
  paths: ["/administration/motif-classes"],
  title: "Motif classes",
  View: MotifClassesPage,
});
