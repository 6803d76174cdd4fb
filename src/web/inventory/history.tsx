import { useState } from "preact/hooks";
import type { Change as RecordedChange } from "../../inventory/api/route-history.ts";
import { Button } from "../components/button.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { Time } from "../format.tsx";
import { get, send } from "../request.ts";
import { api, type Declaration } from "./declaration.ts";
import { asText, PlainValue, type RecordValue, type Row, rowOf, WHOLE } from "./record.tsx";
import { write } from "./write-record.ts";

type Values = Record<string, RecordValue> | null;
type Change = RecordedChange & { before: Values; after: Values };

const VERBS = { create: "Created", update: "Changed", delete: "Deleted", restore: "Restored" };
const PART_VERBS = { create: "added", update: "changed", delete: "removed", restore: "restored" };
/** Sub-resources, and the values that describe them. */
const PARTS: Readonly<Record<string, { name: string; fields: readonly string[] }>> = {
  notes: { name: "Note", fields: ["content"] },
  annotations: { name: "Annotation", fields: ["value"] },
  attachments: { name: "File", fields: ["name"] },
  permissions: { name: "Permission", fields: ["group", "user", "view", "change", "delete"] },
};
const MAX_TEXT = 80;
const AUTOMATIC = new Set(["modified", "modified_by", "version", "deleted_date", "deleted_by"]);

function partText({ resource, op, before, after }: Change): string {
  const values = op === "delete" ? before : after;
  const words = PARTS[resource].fields.flatMap((name) => {
    const value = values?.[name] ?? false;
    return value === false ? [] : value === true ? `can ${name}` : asText(value);
  });
  return words.join(", ").slice(0, MAX_TEXT);
}

interface HistoryProps {
  of: Declaration;
  row: Row;
  /** Changes when a sub-resource does. */
  revision: number;
  onRestored: (row: Row) => void;
  onUndone: () => void;
}

/** The changes of a record, with the way back to each version. */
export function History({ of, row, revision, onRestored, onUndone }: HistoryProps) {
  const [size, setSize] = useState(10);
  const path = api(of.name, `${row.id}/history/`);
  const history = useLoaded(`${path} ${row.version} ${revision} ${size}`, (signal) =>
    get<{ total: number; results: Change[] }>(path, { page_size: size, deleted: "all" }, signal),
  );
  const restore = (version: number): Promise<void> =>
    write(
      () => send("POST", api(of.name, `${row.id}/restore/`), { query: WHOLE, body: { version } }),
      `Restored version ${version}.`,
      onUndone,
      async (response) => onRestored(rowOf(await response.json())),
    );
  return (
    <Loaded of={history}>
      {({ results, total }) => (
        <>
          <ol class="timeline" reversed>
            {results.map((change) => {
              const { cursor, resource, op, version, user, token, at } = change;
              const isPart = resource in PARTS;
              const canRestore = !isPart && row.mayChange && version !== row.version && op !== "delete";
              return (
                <li key={cursor}>
                  {isPart ? (
                    <p>
                      {PARTS[resource].name} {PART_VERBS[op]}: {partText(change)}
                    </p>
                  ) : (
                    <RecordChange of={of} change={change} />
                  )}
                  <p class="muted">
                    {user}, <Time at={at} />
                    {token && `, token ${token.name}`}
                    {canRestore && (
                      <Button look="quiet" small onClick={() => void restore(version)}>
                        Restore version {version}
                      </Button>
                    )}
                  </p>
                </li>
              );
            })}
          </ol>
          {total > results.length && (
            <Button onClick={() => setSize(size * 5)}>Show {total - results.length} earlier</Button>
          )}
        </>
      )}
    </Loaded>
  );
}

function RecordChange({ of, change: { op, before, after } }: { of: Declaration; change: Change }) {
  if (op !== "update" || !before || !after) return <p>{VERBS[op]}</p>;
  return (
    <>
      {Object.keys(after)
        .filter((name) => !AUTOMATIC.has(name))
        .map((name) => (
          <p key={name}>
            {of.fields[name]?.label ?? name}:{" "}
            <del>
              <PlainValue value={before[name]} field={of.fields[name]} />
            </del>{" "}
            <ins>
              <PlainValue value={after[name]} field={of.fields[name]} />
            </ins>
          </p>
        ))}
    </>
  );
}
