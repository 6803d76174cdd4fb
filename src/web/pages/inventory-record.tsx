import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { href } from "../address.ts";
import { Banner } from "../components/banner.tsx";
import { Button, LinkButton } from "../components/button.tsx";
import { confirm } from "../components/confirm.tsx";
import { Card, PageHead } from "../components/layout.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { Menu } from "../components/menu.tsx";
import { formatCount, formatTime } from "../format.tsx";
import { Box } from "../inventory/box/box.tsx";
import { Annotations } from "../inventory/annotations.tsx";
import { useRecordChange } from "../inventory/change-record.tsx";
import {
  api,
  columnTitle,
  makeCrumb,
  type Declaration,
  declaration,
  hasLabels,
  isConstant,
  isInTree,
  isPeople,
  pagePath,
  toSegment,
  listTitle,
  formatConstant,
} from "../inventory/declaration.ts";
import { Files } from "../inventory/files.tsx";
import { History } from "../inventory/history.tsx";
import { Lineage } from "../inventory/lineage.tsx";
import { Notes } from "../inventory/notes.tsx";
import { LocationCard } from "../inventory/location-card.tsx";
import { makeCrumbs, readBranch, treeAddress } from "../inventory/path.tsx";
import { ClosedProperties, Properties, shownFields } from "../inventory/properties.tsx";
import {
  formatText,
  recordName,
  readRecord,
  type Row,
  toRow,
  State,
  stateText,
  Value,
  WHOLE,
} from "../inventory/record.tsx";
import { RecordForm } from "../inventory/record-form.tsx";
import { SameUnits, TERMS } from "../inventory/same-units.tsx";
import { AccessCard } from "../inventory/sharing.tsx";
import { Shortcuts } from "../inventory/shortcuts.tsx";
import { StockActions } from "../inventory/stock-actions.tsx";
import { AmountFact, StockCard } from "../inventory/stock-card.tsx";
import { ProductCard } from "../inventory/stock-left.tsx";
import { isTypeList, TypeUsage } from "../inventory/type-form.tsx";
import { nameCode, showBatch, showDone, write } from "../inventory/write-record.ts";
import { definePage, navigate, useParams, useQuery, useTitle } from "../page.tsx";
import { call, callForResponse } from "../request.ts";

/** The page of a record, with its actions. */
interface RecordProps {
  of: Declaration;
  row: Row;
  /** A write returned it. */
  onSaved: (row: Row) => void;
  /** An undo changed it, so it must be read again. */
  onUndone: () => void;
}

function InventoryRecord() {
  const { list, id } = useParams();
  const segment = toSegment(list);
  const [query] = useQuery();
  const loaded = useLoaded(`${segment} ${id}`, async (signal) => {
    const [of, row] = await Promise.all([declaration(segment), readRecord(segment, id, signal)]);
    return { of, row };
  });
  const name = loaded.value && recordName(loaded.value.of, loaded.value.row);
  useTitle(name);
  const onSaved = (row: Row): void => loaded.update(({ of }) => ({ of, row }));
  if (!loaded.value)
    return (
      <>
        <PageHead title="Record" crumbs={[makeCrumb(segment)]} />
        <Loaded of={loaded}>{() => null}</Loaded>
      </>
    );
  const props = { ...loaded.value, onSaved, onUndone: loaded.reload };
  return query.get("edit") === "1" && props.row.mayChange ? <Edit {...props} /> : <Record {...props} />;
}

function Record(props: RecordProps) {
  const { of, row, onSaved, onUndone } = props;
  // Sub-resources have versions of their own; the history shows them too.
  const [revision, setRevision] = useState(0);
  const [query, setQuery] = useQuery();
  useEffect(() => {
    if (query.get("added") !== "1") return;
    setQuery({ added: null }, { replace: true });
    const made = hasLabels(of) ? { segment: of.name, ids: [row.id] } : undefined;
    showBatch(`Added ${recordName(of, row)}.${nameCode(row.values.barcode)}`, null, onUndone, made);
  }, []);
  const [isSharing, setSharing] = useState(false);
  const onChanged = (): void => setRevision((count) => count + 1);
  const isDeleted = row.values.deleted === true;
  const { main, advanced } = shownFields(of, row);
  const details = Object.keys(of.fields).filter((name) => of.fields[name].form?.shownIn === "details");
  const hasGrid = typeof row.values.grid_rows === "number" && !isDeleted;
  const head = (first?: ComponentChildren, last?: ComponentChildren) => (
    <RecordHead {...{ ...props, hasGrid, first, last }} onShare={() => setSharing(true)} />
  );
  return (
    <>
      {hasGrid ? <Box key={row.version} id={row.id} head={head} /> : head()}
      {isDeleted && <Deleted {...props} />}
      <StockActions of={of} row={row} onChanged={onUndone}>
        <AmountFact of={of} row={row} />
      </StockActions>
      <div class="with-panel record">
        <div class="stack">
          <StockCard of={of} row={row} onSaved={onSaved} onUndone={onUndone} />
          <ProductCard of={of} row={row} />
          <Lineage of={of} row={row} />
          {main.length > 0 && (
            <Card title="Properties">
              <Properties of={of} row={row} names={main} />
            </Card>
          )}
          {of.guarded && !isDeleted && (
            <>
              <Annotations of={of} row={row} onChanged={onChanged} />
              <Notes of={of} row={row} onChanged={onChanged} />
              <Files of={of} row={row} onChanged={onChanged} />
            </>
          )}
          <ClosedProperties title="Advanced" of={of} row={row} names={advanced} />
        </div>
        <div class="stack">
          <div class="where-card">
            <LocationCard of={of} row={row} onMoved={onUndone} />
          </div>
          {of.guarded && <AccessCard {...{ of, row, onChanged, isSharing }} onShare={setSharing} />}
          {isTypeList(of) && !isDeleted && <TypeUsage of={of} row={row} />}
          {of.name === TERMS && !isDeleted && <SameUnits of={row} onChanged={onUndone} />}
          {!isDeleted && !isPeople(of.name) && <References of={of} row={row} />}
          <History of={of} row={row} revision={revision} onRestored={onSaved} onUndone={onUndone} />
          <ClosedProperties title="Details" of={of} row={row} names={details} />
          <div>
            <Shortcuts
              shortcuts={[
                {
                  keys: ["e"],
                  does: "edit",
                  run: () => row.mayChange && setQuery({ edit: 1 }),
                },
                ...("taken_out" in of.fields
                  ? [{ keys: ["a"], does: "use an amount", run: focusAmount }]
                  : []),
                { keys: ["u"], does: "go up to the list", run: () => navigate(pagePath(of.name)) },
              ]}
            />
          </div>
        </div>
      </div>
    </>
  );
}

/** Puts the cursor into the field of the amount to use, where there is one. */
function focusAmount(): void {
  const input = document.querySelector<HTMLInputElement>(".act-use input");
  input?.focus();
  input?.select();
}

interface HeadProps extends RecordProps {
  /** True if the record is a box, whose page is about its contents. */
  hasGrid: boolean;
  first: ComponentChildren;
  last: ComponentChildren;
  onShare: () => void;
}

/** Leads to what a saved view is for. */
function ViewLink({ row }: { row: Row }) {
  const { kind } = row.values;
  const list = String(row.values.list);
  if (kind === "import") return <LinkButton href={`${href(pagePath(list))}/import`}>Import</LinkButton>;
  if (kind === "labels")
    return <LinkButton href={href("/inventory/labels", { list, printer: row.id })}>Print labels</LinkButton>;
  return <LinkButton href={`${href(pagePath(list))}?${String(row.values.query)}`}>Open the view</LinkButton>;
}

function RecordHead({ of, row, onSaved, onUndone, hasGrid, first, last, onShare }: HeadProps) {
  const [, setQuery] = useQuery();
  const { mayChange: mayEdit } = row;
  const edit = (): void => setQuery({ edit: 1 });
  const name = recordName(of, row);
  const remove = (): void =>
    confirm({
      title: `Delete ${name}?`,
      text: "It will be hidden from lists. Its history remains, and you can restore it.",
      verb: "Delete",
      run: async () => {
        const headers = { "If-Match": `"${row.version}"` };
        const response = await callForResponse("DELETE /api/v2/:list/:id/", {
          params: { list: of.name, id: row.id },
          headers,
        });
        showDone(`Deleted ${name}.`, response, onUndone);
        onSaved(await readRecord(of.name, row.id));
      },
    });
  return (
    <PageHead
      title={name}
      crumbs={useCrumbs(of, row)}
      actions={
        <>
          {first}
          {of.name === "views" && <ViewLink row={row} />}
          {of.name === "stocktakes" && (
            <LinkButton href={href(`/inventory/stocktake/${row.id}`)}>Scan and apply</LinkButton>
          )}
          {of.guarded && mayEdit && !hasGrid && (
            <Button icon="share-2" onClick={onShare}>
              Share
            </Button>
          )}
          {hasLabels(of) && !hasGrid && (
            <LinkButton icon="printer" href={href("/inventory/labels", { list: of.name, id: row.id })}>
              Label
            </LinkButton>
          )}
          <RecordMenu of={of} row={row} onDelete={remove}>
            {hasGrid && mayEdit && (
              <button type="button" onClick={edit}>
                Edit
              </button>
            )}
          </RecordMenu>
          {mayEdit && !hasGrid && (
            <Button look="primary" icon="pencil" onClick={edit}>
              Edit
            </Button>
          )}
          {last}
        </>
      }
    >
      <div class="row dotted">
        <Summary of={of} row={row} />
      </div>
    </PageHead>
  );
}

/** The facts that describe a record in a line: its state, its kind, then other facts. */
function Summary({ of, row: { values } }: { of: Declaration; row: Row }) {
  const { grid_rows, grid_columns } = values;
  const names = Object.keys(of.fields).filter((name) => {
    const { form } = of.fields[name];
    return form?.shownIn === "head" && form.look !== "state" && values[name];
  });
  const first = names.filter((name) => isConstant(of.fields[name]));
  return (
    <>
      {typeof grid_rows === "number" && <span>{`${grid_rows} × ${String(grid_columns)} box`}</span>}
      {stateText(values) !== "" && <State values={values} />}
      {[...first, ...names.filter((name) => !first.includes(name))].map((name) => (
        <span key={name} class="anywhere">
          <Value value={values[name]} field={of.fields[name]} />
        </span>
      ))}
    </>
  );
}

/** A place is inside others, other records are in lists. */
function useCrumbs(of: Declaration, row: Row) {
  const address = isInTree(of.name) && row.values.deleted !== true ? `${of.name}/${row.id}` : null;
  const branch = useLoaded(address, (signal) => readBranch(address!, 1, signal));
  if (branch.value) return makeCrumbs(branch.value.path);
  const { model_type } = row.values;
  const ofType =
    isConstant(of.fields.model_type) && model_type
      ? [
          {
            name: formatConstant(String(model_type)),
            href: href(pagePath(of.name), { model_type: String(model_type) }),
          },
        ]
      : [];
  return [{ name: "Inventory", href: href("/inventory") }, makeCrumb(of.name), ...ofType];
}

function RecordMenu(props: { of: Declaration; row: Row; onDelete: () => void; children: ComponentChildren }) {
  const { of, row, onDelete, children } = props;
  const isDeleted = row.values.deleted === true;
  return (
    <Menu label="More" plain>
      {children}
      {isInTree(of.name) && !row.values.grid_rows && (
        <a href={treeAddress({ segment: of.name, id: row.id })}>Show in Storage</a>
      )}
      {of.name === "locations" && <a href={href("/inventory/stocktake", { location: row.id })}>Stocktake</a>}
      {row.mayChange && <a href={href(`${pagePath(of.name)}/new`, { copy: row.id })}>Copy</a>}
      {of.guarded && !isDeleted && (
        <a href={href(api(of.name, `${row.id}/`), { format: "eln" })} download="">
          Export as archive (.eln)
        </a>
      )}
      {row.mayDelete && !isDeleted && (
        <button type="button" onClick={onDelete}>
          Delete
        </button>
      )}
    </Menu>
  );
}

function References({ of, row }: { of: Declaration; row: Row }) {
  const path = api(of.name, `${row.id}/references/`);
  const found = useLoaded(path, (signal) =>
    call("GET /api/v2/:list/:id/references/", { params: { list: of.name, id: row.id }, signal }),
  );
  // The lineage shows the aliquots, and the stock of a product its tubes.
  const isElsewhere = ({ field, segment }: { field: string | null; segment: string }): boolean =>
    field === "aliquot_of" || (field === "product" && segment === "stocks/consumables");
  const shown = found.value?.results.filter((each) => !isElsewhere(each)) ?? [];
  if (shown.length === 0) return null;
  return (
    <Card title="Referenced by" count={shown.reduce((sum, { total }) => sum + total, 0)}>
      <Loaded of={found}>
        {() => (
          <>
            {shown.map(({ segment, field, annotation, total, list, records }) => {
              const count = `${formatCount(total)} in ${listTitle(segment).toLowerCase()}`;
              return (
                <div key={`${segment} ${field} ${annotation}`}>
                  <h3>
                    {list === null ? (
                      count
                    ) : (
                      <a href={`${href(pagePath(segment))}${new URL(list).search}`}>{count}</a>
                    )}{" "}
                    <FieldTitle segment={segment} name={field ?? `annotations__${annotation}`} />
                  </h3>
                  <ul class="row hint referring">
                    {records.map(({ id, name }) => (
                      <li key={id}>
                        <a href={href(pagePath(segment, String(id)))}>{name}</a>
                      </li>
                    ))}
                    {total > records.length && <li>…</li>}
                  </ul>
                </div>
              );
            })}
          </>
        )}
      </Loaded>
    </Card>
  );
}

/** The name of the field by which records refer to another. */
function FieldTitle({ segment, name }: { segment: string; name: string }) {
  const { value } = useLoaded(segment, () => declaration(segment));
  return value ? <small>as {columnTitle(value, name).toLowerCase()}</small> : null;
}

function Edit(props: RecordProps) {
  const { of, row } = props;
  const [, setQuery] = useQuery();
  const close = (): void => {
    setQuery({ edit: null }, { replace: true });
    document.getElementById("content")?.focus();
  };
  const change = useRecordChange({ ...props, done: "Saved.", onClose: close });
  return (
    <>
      <PageHead title={`Edit ${recordName(of, row)}`} crumbs={[makeCrumb(of.name)]} />
      <RecordForm
        of={of}
        row={row}
        submit="Save"
        onSubmit={async (changed) => (Object.keys(changed).length > 0 ? change.save(changed) : close())}
        onCancel={close}
      />
      {change.dialog}
    </>
  );
}

function Deleted({ of, row, onSaved, onUndone }: RecordProps) {
  const restore = (): Promise<void> =>
    write(
      () =>
        callForResponse("POST /api/v2/:list/:id/restore/", {
          params: { list: of.name, id: row.id },
          query: WHOLE,
          body: {},
        }),
      "Restored.",
      onUndone,
      async (response) => onSaved(toRow(await response.json())),
    );
  return (
    <Banner tone="warn">
      <div class="row between">
        <span>
          Deleted by {formatText(row.values.deleted_by)} on {formatTime(String(row.values.deleted_date))}.
        </span>
        {row.mayDelete && <Button onClick={() => void restore()}>Restore</Button>}
      </div>
    </Banner>
  );
}

export const inventoryRecordPage = definePage({
  name: "inventory-record",
  paths: ["/inventory/:list/:id"],
  title: "Record",
  View: InventoryRecord,
});
