import { useState } from "preact/hooks";
import { useLoaded } from "../components/loaded.tsx";
import { Button } from "../components/button.tsx";
import { ErrorBanner } from "../components/banner.tsx";
import { showToast } from "../components/toast.tsx";
import { get, send } from "../request.ts";
import { sayValue } from "./annotations.tsx";
import { api, type Declaration } from "./declaration.ts";
import { PlainValue } from "./far-name.tsx";
import { localTime, type Row, type Value } from "./record.tsx";
import { announceDone } from "./write-record.ts";

interface Change {
  cursor: string;
  /** Segment, or what of the record it is: `notes`, `annotations`, `attachments`, `permissions`. */
  resource: string;
  op: "create" | "update" | "delete" | "restore";
  version: number;
  at: string;
  user: string;
  token: { name: string } | null;
  batch: string;
  before: Record<string, Value> | null;
  after: Record<string, Value> | null;
}

const WORDS = { create: "made it", update: "changed it", delete: "deleted it", restore: "brought it back" };
/** What belongs to records, and which of its values says the most. */
const PARTS: Readonly<Record<string, { name: string; says: readonly string[] }>> = {
  notes: { name: "a note", says: ["content"] },
  annotations: { name: "an annotation", says: ["value"] },
  attachments: { name: "a file", says: ["name"] },
  permissions: { name: "a right", says: ["group", "user", "view", "change", "delete"] },
};
const DID = { create: "added", update: "changed", delete: "took away", restore: "brought back" };
const PART_VALUE = 80;

/** One change of a part, in a few words: `bob may view`, `Two females …`. */
function partText(resource: string, values: Record<string, Value> | null): string {
  const said = PARTS[resource].says.flatMap((name) => {
    const value = values?.[name];
    if (value === null || value === undefined || value === false) return [];
    return value === true ? `may ${name}` : sayValue(value);
  });
  return said.join(", ").slice(0, PART_VALUE);
}

/** What changes with every write. */
const BY_ITSELF = new Set(["modified", "modified_by", "version", "deleted_date", "deleted_by"]);

/** What was done to a record: who, when, what; and the way back to each version. */
export function History(props: {
  of: Declaration;
  row: Row;
  /** Changes with every change of what belongs to the record. */
  parts: number;
  onChanged: () => void;
}) {
  const { of, row, parts, onChanged } = props;
  const [size, setSize] = useState(10);
  const path = api(of.name, `${row.id}/history/`);
  const history = useLoaded(`${path} ${row.version} ${parts} ${size}`, (signal) =>
    get<{ total: number; results: Change[] }>(path, { page_size: size, deleted: "all" }, signal),
  );
  const restore = async (version: number): Promise<void> => {
    try {
      const response = await send("POST", api(of.name, `${row.id}/restore/`), { body: { version } });
      announceDone(`It is as it was in version ${version}.`, response.headers.get("Batch-Id"), onChanged);
      onChanged();
    } catch (error) {
      showToast((error as Error).message, "error");
    }
  };
  if (!history.value)
    return history.error ? (
      <ErrorBanner error={history.error} retry={history.reload} />
    ) : (
      <p class="muted">…</p>
    );
  const { results, total } = history.value;
  return (
    <>
      <ol class="bare history" reversed>
        {results.map(({ cursor, resource, op, version, at, user, token, before, after }) =>
          resource in PARTS ? (
            <li key={cursor}>
              <p>
                <strong>{user}</strong> {DID[op]} {PARTS[resource].name} ·{" "}
                <time datetime={at}>{localTime(at)}</time>
              </p>
              <p class="muted">{partText(resource, op === "delete" ? before : after)}</p>
            </li>
          ) : (
            <li key={cursor}>
              <p class="row">
                <span>
                  <strong>{user}</strong> {WORDS[op]} · <time datetime={at}>{localTime(at)}</time>{" "}
                  <span class="muted">
                    version {version}
                    {token && `, with the token ${token.name}`}
                  </span>
                </span>
                {row.mayChange && version !== row.version && op !== "delete" && (
                  <Button look="quiet" onClick={() => void restore(version)}>
                    Bring back<span class="unseen"> version {version}</span>
                  </Button>
                )}
              </p>
              {op === "update" && before && after && (
                <dl class="pairs">
                  {Object.keys(after)
                    .filter((name) => !BY_ITSELF.has(name))
                    .map((name) => [
                      <dt key={name}>{of.fields[name]?.label ?? name}</dt>,
                      <dd key={`${name}-`}>
                        <del>
                          <PlainValue value={before[name]} field={of.fields[name]} />
                        </del>{" "}
                        <span aria-label="became">→</span>{" "}
                        <ins>
                          <PlainValue value={after[name]} field={of.fields[name]} />
                        </ins>
                      </dd>,
                    ])}
                </dl>
              )}
            </li>
          ),
        )}
      </ol>
      {total > results.length && (
        <Button onClick={() => setSize(size * 5)}>Show {total - results.length} earlier</Button>
      )}
    </>
  );
}
