import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Button, IconButton } from "../components/button.tsx";
import { Icon } from "../components/icon.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { countOf, formatCount } from "../format.tsx";
import { useQuery } from "../page.tsx";
import { useSession } from "../session.ts";
import { placeFields, type Task } from "./bulk-dialog.tsx";
import {
  columnTitle,
  type Declaration,
  type FieldInfo,
  fieldOf,
  isConstant,
  isSeldomUsed,
  listedAnnotations,
  wordOf,
} from "./declaration.ts";
import { filtersOf } from "./list-address.ts";
import { ColumnsDialog, MoreMenu } from "./list-menus.tsx";
import { readName } from "./record.tsx";
import type { Selection } from "./selection.ts";
import { Checkbox } from "../components/field.tsx";
import { type FieldCount, readValues } from "./value-input.tsx";

export function Toolbar(props: {
  of: Declaration;
  columns: readonly string[];
  /** Of the selected records. */
  ids: readonly string[];
  searchBox: RefObject<HTMLInputElement | null>;
  onFilter: () => void;
  onUndone: () => void;
}) {
  const { of, columns, ids, searchBox } = props;
  const [isChoosing, setChoosing] = useState(false);
  return (
    <div class="row screen">
      <SearchBox box={searchBox} />
      <FilterChips of={of} />
      <button type="button" class="chip chip-add" onClick={props.onFilter}>
        <Icon name="plus" /> Filter
      </button>
      <div class="row end">
        <Button icon="columns-3" onClick={() => setChoosing(true)}>
          Columns
        </Button>
        <MoreMenu of={of} columns={columns} ids={ids} onUndone={props.onUndone} />
      </div>
      {isChoosing && <ColumnsDialog of={of} columns={columns} onClose={() => setChoosing(false)} />}
    </div>
  );
}

/** Milliseconds after the last key. */
const PAUSE = 75;

/** Searches names while they are typed. */
function SearchBox({ box }: { box: RefObject<HTMLInputElement | null> }) {
  const [search, setQuery] = useQuery();
  const value = search.get("query") ?? "";
  const [text, setText] = useState(value);
  // A search that this box started must not replace what was typed since.
  const searched = useRef(value);
  const run = (options: { replace: boolean }): void => {
    searched.current = text;
    setQuery({ query: text, page: null }, options);
  };
  useEffect(() => {
    if (value !== searched.current) setText(value);
    searched.current = value;
  }, [value]);
  useEffect(() => {
    if (text === searched.current) return;
    const timer = setTimeout(run, PAUSE, { replace: true });
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <form
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        run({ replace: false });
      }}
    >
      <input
        ref={box}
        class="input search"
        type="search"
        aria-label="Search names"
        placeholder="Search names"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </form>
  );
}

/** The filters in force, each with a button that removes it. */
function FilterChips({ of }: { of: Declaration }) {
  const [search, setQuery] = useQuery();
  return Object.entries(filtersOf(search)).map(([name, values]) => {
    if (name === "query") return null;
    const title = name === "query_expression" ? "Filter" : columnTitle(of, name);
    return (
      <span key={name} class="chip">
        {title}: <ChipValues of={of} name={name} values={values} />
        <button
          type="button"
          aria-label={`Remove the filter ${title}`}
          onClick={() => setQuery({ [name]: null, page: null })}
        >
          <Icon name="x" />
        </button>
      </span>
    );
  });
}

function ChipValues({ of, name, values }: { of: Declaration; name: string; values: readonly string[] }) {
  const field = fieldOf(of, name);
  const to = field?.reference?.printed === "id" ? field.reference : undefined;
  const { value } = useLoaded(to ? values.join() : null, () =>
    Promise.all(values.slice(0, 3).map((id) => readName(to!, id))),
  );
  const words =
    field && hasWords(field) ? values.map((one) => wordOf(one, field)) : to ? (value ?? []) : values;
  return <b>{name === "query_expression" ? "advanced" : words.join(" or ").slice(0, 60)}</b>;
}

const ICONS = { Edit: "pencil", Move: "move", Share: "share-2", Delete: "trash-2" } as const;

/** What can be done with the selected records. */
export function BulkBar(props: {
  of: Declaration;
  selection: Selection;
  total: number;
  onTask: (task: Task) => void;
}) {
  const { of, selection, total, onTask } = props;
  const [search] = useQuery();
  const session = useSession();
  if (selection.count === 0) return null;
  const tasks = (Object.keys(ICONS) as Task[]).filter(
    (task) => (task !== "Move" || placeFields(of).length > 0) && (task !== "Share" || of.guarded),
  );
  return (
    <section class="bulk row screen" aria-label="Selection">
      <span>{countOf(selection.count, "record")} selected</span>
      {!selection.isAll && selection.isPageSelected && total > selection.ids.size && (
        <Button look="quiet" small onClick={selection.selectAll}>
          Select all {formatCount(total)}
        </Button>
      )}
      {session === null && <span>Sign in to change them.</span>}
      {session &&
        search.get("deleted") === null &&
        tasks.map((task) => (
          <Button key={task} look="quiet" small icon={ICONS[task]} onClick={() => onTask(task)}>
            {task}
          </Button>
        ))}
      <IconButton icon="x" label="Clear the selection" onClick={selection.clear} />
    </section>
  );
}

const MAX_FACETS = 3;
const MAX_ANNOTATION_FACETS = 3;
const MAX_VALUES = 8;

const hasWords = (field: FieldInfo): boolean => isConstant(field) || field.form?.words !== undefined;

/** Fields by which a list is narrowed: constants first, then references and annotations of few values. */
const facetsOf = (of: Declaration): string[] => {
  const { fields } = of;
  const shown = Object.keys(fields).filter(
    (name) =>
      fields[name].shown === "always" && fields[name].write !== "never" && !isSeldomUsed(fields[name]),
  );
  const references = shown.filter((name) => fields[name].reference?.printed === "id" && name !== "unit");
  const own = [...shown.filter((name) => hasWords(fields[name])), ...references].slice(0, MAX_FACETS);
  const annotations = listedAnnotations(of).filter(
    ([, { choices, kind, lookups, annotation }]) =>
      lookups.length > 0 && (choices !== null || kind === "flag" || annotation!.type === "VOCABULARYTERM"),
  );
  return [...own, ...annotations.slice(0, MAX_ANNOTATION_FACETS).map(([name]) => name)];
};

function facetLabel(field: FieldInfo | undefined, value: string, label: string | null): string {
  if (field && hasWords(field)) return wordOf(value, field);
  if (field?.kind === "flag") return value === "true" ? "yes" : "no";
  return label ?? "(no name)";
}

/** The frequent values of a few fields, each a filter. */
export function Facets({ of }: { of: Declaration }) {
  const [search, setQuery] = useQuery();
  const names = facetsOf(of);
  const filters = filtersOf(search);
  const { value } = useLoaded(JSON.stringify([of.name, filters]), () =>
    Promise.all(
      names.map(async (name): Promise<[string, FieldCount[]]> => {
        // The other values of a facet stay available.
        const { [name]: _own, ...others } = filters;
        return [name, await readValues(of.name, name, others)];
      }),
    ),
  );
  const facets = value?.filter(([, values]) => values.length > 0) ?? [];
  return (
    <aside class="facets screen" aria-label="Filter by value">
      {facets.map(([name, values]) => {
        const chosen = filters[name] ?? [];
        const set = (one: string, on: boolean): void =>
          setQuery({ [name]: on ? [...chosen, one] : chosen.filter((other) => other !== one), page: null });
        return (
          <section key={name}>
            <h2>{columnTitle(of, name)}</h2>
            <ul>
              {values.slice(0, MAX_VALUES).map(({ value: one, label, total }) => (
                <li key={one} class="row">
                  <Checkbox
                    label={facetLabel(fieldOf(of, name), one, label)}
                    checked={chosen.includes(one)}
                    onChange={(on) => set(one, on)}
                  />
                  <span class="count end">{formatCount(total)}</span>
                </li>
              ))}
            </ul>
          </section>
        );
      })}
    </aside>
  );
}
