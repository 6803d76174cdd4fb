import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { href } from "../address.ts";
import { RECORD_ACTIONS } from "../inventory/actions.ts";
import { Annotations } from "../inventory/annotations.tsx";
import { Files, Notes } from "../inventory/sub-resources.tsx";
import { ConflictDialog } from "../inventory/cell.tsx";
import {
  api,
  type Declaration,
  declaration,
  isCommon,
  pageOf,
  segmentOf,
  titleOf,
} from "../inventory/declaration.ts";
import { History } from "../inventory/history.tsx";
import { Menu } from "../inventory/menu.tsx";
import { PathOf } from "../inventory/path.tsx";
import { asText, isFar, localTime, readRecord, type Row, Shown } from "../inventory/record.tsx";
import { RecordForm } from "../inventory/record-form.tsx";
import { SharingOf } from "../inventory/sharing.tsx";
import { Shortcuts } from "../inventory/shortcuts.tsx";
import { announceDone, changeRecord, Conflict } from "../inventory/write-record.ts";
import { useLoaded } from "../components/loaded.tsx";
import { definePage, navigate, useParams, useQuery, useTitle } from "../page.tsx";
import { showToast } from "../components/toast.tsx";
import { Button, LinkButton } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { ErrorBanner } from "../components/banner.tsx";
import { useSubmission } from "../components/form.tsx";
import { get, send } from "../request.ts";

function InventoryRecord() {
  const { list, id } = useParams();
  const segment = segmentOf(list);
  const loaded = useLoaded(`${segment} ${id}`, (signal) =>
    Promise.all([declaration(segment), readRecord(segment, id, signal)]),
  );
  const [of, row] = loaded.value ?? [];
  const name = of && row ? asText(row.values[of.key]) : undefined;
  useTitle(name);
  return (
    <>
      <nav class="trail" aria-label="Path">
        <a href={href("/inventory")}>Inventory</a> › <a href={href(pageOf(segment))}>{titleOf(segment)}</a>
      </nav>
      <h1>{name ?? "…"}</h1>
      {!loaded.value && Boolean(loaded.error) && <ErrorBanner error={loaded.error} retry={loaded.reload} />}
      {of && row && <Record of={of} row={row} onChanged={loaded.reload} />}
    </>
  );
}

/** Lists of things that lie in each other. */
const IN_TREE = new Set(["locations", "equipment", "places"]);

function Record({ of, row, onChanged }: { of: Declaration; row: Row; onChanged: () => void }) {
  const [query, setQuery] = useQuery();
  const [deleting, setDeleting] = useState(false);
  // Notes and the like have versions of their own: that of the record stays.
  const [parts, setParts] = useState(0);
  const partChanged = (): void => setParts((count) => count + 1);
  const editing = query.get("edit") === "1" && row.mayChange;
  const edit = (on: boolean): void => setQuery({ edit: on ? 1 : null }, { replace: !on });
  const deleted = row.values.deleted === true;
  const { location: kept } = row.values;
  const inTree = IN_TREE.has(of.name)
    ? { segment: of.name, id: row.id }
    : isFar(kept)
      ? { segment: "locations", id: String(kept.id) }
      : undefined;
  if (editing) return <Edit of={of} row={row} onClose={() => edit(false)} onChanged={onChanged} />;
  const own = Object.keys(of.fields).filter((name) => !isCommon(name) && name !== of.key);
  const common = [
    "owner",
    "owned_by",
    "public",
    "created_by",
    "created",
    "modified_by",
    "modified",
    "version",
    "id",
  ].filter((name) => name in of.fields);
  return (
    <>
      {deleted && <Deleted of={of} row={row} onChanged={onChanged} />}
      {inTree && !deleted && <PathOf segment={inTree.segment} id={inTree.id} />}
      <div class="row record-tools screen">
        {row.mayChange && !deleted && (
          <Button look="primary" onClick={() => edit(true)}>
            Edit
          </Button>
        )}
        {of.name === "views" && (
          <LinkButton href={`${href(pageOf(String(row.values.list)))}?${String(row.values.query)}`}>
            Open the view
          </LinkButton>
        )}
        {row.mayChange && !deleted && (
          <LinkButton href={href(`${pageOf(of.name)}/new`, { copy: row.id })}>Copy</LinkButton>
        )}
        {row.mayDelete && !deleted && (
          <Button look="danger" onClick={() => setDeleting(true)}>
            Delete
          </Button>
        )}
        <Menu label="More">
          <ul class="bare">
            {RECORD_ACTIONS.filter((action) => action.for?.(of.name) ?? true).map(({ label, path }) => (
              <li key={label}>
                <a href={href(path({ segment: of.name, id: row.id }))}>{label}</a>
              </li>
            ))}
            <li>
              <a href={href(api(of.name, `${row.id}/`), { format: "api" })}>The same in the interface</a>
            </li>
          </ul>
        </Menu>
        <Shortcuts
          shortcuts={[
            { keys: ["e"], does: "edit", run: () => row.mayChange && edit(true) },
            { keys: ["u"], does: "up, to the list", run: () => navigate(pageOf(of.name)) },
          ]}
        />
      </div>
      <div class="record">
        <div class="stack">
          <Section title="About">
            <Pairs of={of} row={row} names={own} />
          </Section>
          {of.guarded && (
            <>
              <Section title="Annotations">
                <Annotations of={of} row={row} onChanged={partChanged} />
              </Section>
              <Section title="Notes">
                <Notes of={of} row={row} onChanged={partChanged} />
              </Section>
              <Section title="Files">
                <Files of={of} row={row} onChanged={partChanged} />
              </Section>
            </>
          )}
        </div>
        <div class="stack">
          <Section title="What refers to it">
            <References of={of} row={row} />
          </Section>
          <Section title="Who and when">
            <Pairs of={of} row={row} names={common} />
          </Section>
          {of.guarded && row.mayChange && !deleted && (
            <Section title="Sharing">
              <SharingOf segment={of.name} id={row.id} onChanged={partChanged} />
            </Section>
          )}
          <Section title="History">
            <History of={of} row={row} parts={parts} onChanged={onChanged} />
          </Section>
        </div>
      </div>
      {deleting && <DeleteDialog of={of} row={row} onClose={() => setDeleting(false)} />}
    </>
  );
}

function Section({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="card">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function Pairs({ of, row, names }: { of: Declaration; row: Row; names: readonly string[] }) {
  return (
    <dl class="pairs">
      {names.map((name) => [
        <dt key={name} title={of.fields[name].help_text}>
          {of.fields[name].label}
        </dt>,
        <dd key={`${name}-`}>
          <Shown value={row.values[name]} field={of.fields[name]} />
        </dd>,
      ])}
    </dl>
  );
}

interface Referring {
  total: number;
  results: {
    segment: string;
    /** By which they refer; null: by annotations of a type. */
    field: string | null;
    annotation: string | null;
    total: number;
    list: string | null;
    records: { id: string; name: string }[];
  }[];
}

function References({ of, row }: { of: Declaration; row: Row }) {
  const path = api(of.name, `${row.id}/references/`);
  const found = useLoaded(row.values.deleted === true ? null : path, (signal) =>
    get<Referring>(path, {}, signal),
  );
  if (found.error) return <ErrorBanner error={found.error} retry={found.reload} />;
  if (found.value?.total === 0 || row.values.deleted === true) return <p class="muted">Nothing.</p>;
  return (
    <ul class="bare referring">
      {found.value?.results.map(({ segment, field, annotation, total, list, records }) => (
        <li key={`${segment} ${field} ${annotation}`}>
          <p>
            {list === null ? (
              <strong>{`${total.toLocaleString("en")} in ${titleOf(segment).toLowerCase()}`}</strong>
            ) : (
              <a href={`${href(pageOf(segment))}${new URL(list).search}`}>
                {total.toLocaleString("en")} in {titleOf(segment).toLowerCase()}
              </a>
            )}{" "}
            <span class="muted">
              {field === null ? `annotated as ${annotation ?? "…"}` : `as ${field.replaceAll("_", " ")}`}
            </span>
          </p>
          <p class="muted">
            {records.map(({ id, name }, i) => (
              <span key={id}>
                {i > 0 && ", "}
                <a href={href(pageOf(segment, id))}>{name}</a>
              </span>
            ))}
            {total > records.length && " …"}
          </p>
        </li>
      ))}
    </ul>
  );
}

function Edit(props: { of: Declaration; row: Row; onClose: () => void; onChanged: () => void }) {
  const { of, row, onClose, onChanged } = props;
  const [conflict, setConflict] = useState<{ now: Row; changed: Record<string, unknown> } | null>(null);
  const save = async (changed: Record<string, unknown>, version: number | undefined): Promise<void> => {
    if (Object.keys(changed).length > 0) {
      try {
        const { batch } = await changeRecord(of, { id: row.id, version }, changed);
        announceDone("Saved.", batch, onChanged);
      } catch (error) {
        if (!(error instanceof Conflict)) throw error;
        return setConflict({ now: error.now, changed });
      }
      onChanged();
    }
    onClose();
  };
  return (
    <>
      <RecordForm
        of={of}
        row={row}
        submit="Save"
        onSubmit={(changed) => save(changed, row.version)}
        onCancel={onClose}
      />
      {conflict && (
        <ConflictDialog
          label={Object.keys(conflict.changed)
            .map((name) => of.fields[name].label)
            .join(", ")}
          now={conflict.now}
          theirs={Object.keys(conflict.changed)
            .map((name) => asText(conflict.now.values[name]))
            .join(", ")}
          mine={Object.values(conflict.changed).map(String).join(", ")}
          onKeep={() => {
            onChanged();
            onClose();
          }}
          onOverwrite={() => {
            setConflict(null);
            save(conflict.changed, conflict.now.version).catch((error: Error) =>
              showToast(error.message, "error"),
            );
          }}
        />
      )}
    </>
  );
}

function DeleteDialog({ of, row, onClose }: { of: Declaration; row: Row; onClose: () => void }) {
  const { submit, busy, error } = useSubmission(async () => {
    await send("DELETE", api(of.name, `${row.id}/`), { headers: { "If-Match": `"${row.version}"` } });
    location.reload();
    return true;
  });
  return (
    <Dialog
      title={`Delete ${asText(row.values[of.key])}?`}
      onClose={onClose}
      actions={
        <>
          <Button look="danger" busy={busy} onClick={submit}>
            Delete
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </>
      }
    >
      {error !== null && <ErrorBanner error={error} />}
      <p>It goes out of all lists. Its history stays, and it can be brought back.</p>
    </Dialog>
  );
}

function Deleted({ of, row, onChanged }: { of: Declaration; row: Row; onChanged: () => void }) {
  const restore = async (): Promise<void> => {
    try {
      const response = await send("POST", api(of.name, `${row.id}/restore/`), { body: {} });
      announceDone("It is back.", response.headers.get("Batch-Id"), onChanged);
      onChanged();
    } catch (error) {
      showToast((error as Error).message, "error");
    }
  };
  return (
    <div class="note warn">
      <p>
        <strong>Deleted</strong> by {asText(row.values.deleted_by)},{" "}
        {localTime(String(row.values.deleted_date))}.
      </p>
      {row.mayDelete && <Button onClick={() => void restore()}>Bring it back</Button>}
    </div>
  );
}

export const inventoryRecordPage = definePage({
  name: "inventory-record",
  paths: ["/inventory/:list/:id"],
  title: "Record",
  View: InventoryRecord,
});
