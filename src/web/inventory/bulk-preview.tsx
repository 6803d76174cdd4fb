import { ErrorBanner } from "../components/banner.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { type Column, Table } from "../components/table.tsx";
import { countOf } from "../format.tsx";
import { ApiError } from "../request.ts";
import { type Declaration, singularOf } from "./declaration.ts";
import { asText, nameOf, readPage, type RecordValue, Value } from "./record.tsx";
import { PlainValue } from "./plain-value.tsx";
import { type Preview, PREVIEWED } from "./write-record.ts";

type Change = Preview["changes"][number];

const AUTOMATIC = new Set(["version", "modified", "modified_by"]);

/** The records with these ids, by id, with some of their fields. */
function useRows(of: Declaration, ids: readonly string[], fields: readonly string[]) {
  const { value } = useLoaded(ids.length === 0 ? null : ids.join(), (signal) =>
    readPage(of, { id: ids, page_size: String(PREVIEWED) }, fields, signal),
  );
  return new Map(value?.rows.map((row) => [row.id, row]));
}

const idOf = ({ id, of }: Change): string => String(of?.id ?? id);

/** The first records of a bulk change: what each field has now, and what it will have. */
export function PreviewTable(props: { of: Declaration; preview: Preview; hasValues: boolean }) {
  const { of, preview, hasValues } = props;
  const changes = preview.changes.slice(0, PREVIEWED);
  const changed = new Set(changes.flatMap(({ after }) => Object.keys(after ?? {})));
  const names = hasValues ? [...changed].filter((name) => name in of.fields && !AUTOMATIC.has(name)) : [];
  const rows = useRows(of, changes.map(idOf), names);
  if (changes.length === 0) return null;
  const columns: Column<Change>[] = [
    {
      name: of.key,
      title: singularOf(of.name),
      heading: true,
      cell: (change) => {
        const row = rows.get(idOf(change));
        return row ? nameOf(of, row) : "…";
      },
    },
    ...names.map((name): Column<Change> => {
      const field = of.fields[name];
      return {
        name,
        title: field.label,
        cell: (change) =>
          change.after && name in change.after ? (
            <>
              <del>
                <Value value={rows.get(idOf(change))?.values[name]} field={{ ...field, reference: null }} />
              </del>{" "}
              <ins>
                <PlainValue value={change.after[name] as RecordValue} field={field} />
              </ins>
            </>
          ) : (
            <span class="muted">unchanged</span>
          ),
      };
    }),
  ];
  const more = preview.count - changes.length;
  return (
    <>
      <Table caption="Preview" columns={columns} rows={changes} keyOf={idOf} />
      {more > 0 && <p class="muted">and {countOf(more, "record")} more</p>}
    </>
  );
}

/** Why a bulk change is not possible, record by record. */
export function BulkError({ error, of }: { error: unknown; of: Declaration }) {
  const body = error instanceof ApiError ? error.body : {};
  const refused = (Array.isArray(body.rows) ? (body.rows as { id?: string; message: string }[]) : []).slice(
    0,
    PREVIEWED,
  );
  const rows = useRows(
    of,
    refused.flatMap(({ id }) => id ?? []),
    [],
  );
  if (refused.length === 0) return <ErrorBanner error={error} />;
  const count = Number(body.refused ?? refused.length);
  return (
    <div class="banner banner-danger" role="alert">
      <div class="grow">
        <p>
          <strong>{countOf(count, "record")} cannot be changed, so nothing was changed.</strong>
        </p>
        <ul class="bullets">
          {refused.map(({ id, message }, i) => {
            const row = id === undefined ? undefined : rows.get(id);
            return (
              <li key={i}>
                {id && <strong>{row ? asText(row.values[of.key]) : id}: </strong>}
                {/* The message starts with the id, which the name replaces. */}
                {message.replace(/^\w+ [0-9a-f-]{36} /, "")}
              </li>
            );
          })}
        </ul>
        {count > refused.length && <p>and {countOf(count - refused.length, "record")} more</p>}
      </div>
    </div>
  );
}
