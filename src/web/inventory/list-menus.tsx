import { useState } from "preact/hooks";
import { href } from "../address.ts";
import { Button, IconButton } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { Checkbox } from "../components/field.tsx";
import { Icon } from "../components/icon.tsx";
import { Menu } from "../components/menu.tsx";
import { useQuery } from "../page.tsx";
import { useSession } from "../session.ts";
import {
  api,
  columnTitle,
  type Declaration,
  defaultColumns,
  defaultOrder,
  hasLabels,
  isCommon,
  listedAnnotations,
  pagePath,
} from "./declaration.ts";
import { PathSelects, usePath } from "./filter-builder.tsx";
import { parseFilters } from "./list-address.ts";

/** The columns that a list can have: the default ones first, those of all lists last. */
export function offeredColumns(of: Declaration, columns: readonly string[]): string[] {
  const all = Object.keys(of.fields).filter((name) => of.fields[name].kind !== "computed" && name !== of.key);
  const others = all.filter((name) => !columns.includes(name));
  const annotations = listedAnnotations(of).map(([name]) => name);
  return [
    ...columns.filter((name) => name !== of.key),
    ...others.filter((name) => !isCommon(of.fields[name])),
    ...annotations.filter((name) => !columns.includes(name)),
    ...others.filter((name) => isCommon(of.fields[name])),
  ];
}

export function ColumnsDialog(props: { of: Declaration; columns: readonly string[]; onClose: () => void }) {
  const { of, columns } = props;
  const [, setQuery] = useQuery();
  const offered = offeredColumns(of, columns);
  const choose = (chosen: readonly string[]): void =>
    setQuery({ fields: chosen.join() === defaultColumns(of).join() ? null : chosen.join() });
  const moveLeft = (name: string): void => {
    const rest = columns.filter((each) => each !== name);
    choose(rest.toSpliced(Math.max(1, columns.indexOf(name) - 1), 0, name));
  };
  return (
    <Dialog
      title="Columns"
      onClose={props.onClose}
      actions={
        <>
          <Button look="primary" onClick={props.onClose}>
            Done
          </Button>
          <Button look="quiet" onClick={() => setQuery({ fields: null })}>
            Default columns
          </Button>
        </>
      }
    >
      <ul class="checklist">
        {offered.map((name) => (
          <li key={name} class="row between">
            <Checkbox
              label={columnTitle(of, name)}
              checked={columns.includes(name)}
              onChange={(on) => choose(on ? [...columns, name] : columns.filter((each) => each !== name))}
            />
            {columns.indexOf(name) > 1 && (
              <IconButton
                icon="arrow-up"
                label={`Move ${columnTitle(of, name)} to the left`}
                onClick={() => moveLeft(name)}
              />
            )}
          </li>
        ))}
      </ul>
      <RelatedColumn of={of} onAdd={(name) => !columns.includes(name) && choose([...columns, name])} />
    </Dialog>
  );
}

/** Adds a column of the records that a field refers to, such as the room of the location. */
function RelatedColumn({ of, onAdd }: { of: Declaration; onAdd: (path: string) => void }) {
  const references = Object.entries(of.fields).filter(([, { reference }]) => reference?.printed === "id");
  const [path, setPath] = useState<readonly string[]>(references.slice(0, 1).map(([name]) => name));
  const levels = usePath({ ...of, fields: Object.fromEntries(references), annotations: {} }, path);
  if (references.length === 0) return null;
  return (
    <fieldset class="filter-row row">
      <legend>Column of another record</legend>
      <PathSelects levels={levels} path={path} onChange={setPath} />
      <Button icon="plus" disabled={path.length < 2} onClick={() => onAdd(path.join("__"))}>
        Add column
      </Button>
    </fieldset>
  );
}

/** Exports, labels and other actions on a list. */
export function MoreMenu(props: { of: Declaration; columns: readonly string[]; ids: readonly string[] }) {
  const { of, columns, ids } = props;
  const [search] = useQuery();
  const session = useSession();
  const found = ids.length > 0 ? { id: ids } : parseFilters(search);
  const ordering = search.get("ordering") ?? defaultOrder(of);
  const file = (format: string): string => {
    const fields = ["id", ...columns].join();
    const query = { ...found, ordering, fields, response_format: "flat", format };
    return href(api(of.name), query);
  };
  const what = ids.length > 0 ? " selected records" : "";
  return (
    <Menu label="More" text icon="ellipsis">
      <a href={file("csv")} download="">
        Export{what} as CSV
      </a>
      <a href={file("xlsx")} download="">
        Export{what} as XLSX
      </a>
      {/* Without `download`, the browser shows why the server refuses an archive of too many records. */}
      <a href={href(api(of.name), { ...found, ordering, format: "eln" })}>Export{what} as archive (.eln)</a>
      {hasLabels(of) && (
        <a href={href("/inventory/labels", { list: of.name, ...found })}>
          <Icon name="printer" /> Labels
        </a>
      )}
      {session && (
        <a href={href("/inventory/changes", { list: of.name })}>
          <Icon name="undo-2" /> Recent changes
        </a>
      )}
      {search.get("deleted") === null && (
        <a href={href(pagePath(of.name), { deleted: "true", ordering: "-deleted_date" })}>
          <Icon name="trash-2" /> Deleted records
        </a>
      )}
    </Menu>
  );
}
