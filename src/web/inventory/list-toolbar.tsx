import type { RefObject } from "preact";
import { groupTitle } from "../../platform/words.ts";
import { useEffect, useRef, useState } from "preact/hooks";
import { href } from "../address.ts";
import { Button, IconButton, LinkButton } from "../components/button.tsx";
import { Icon } from "../components/icon.tsx";
import { Segment } from "../components/segment.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { pluralize, formatCount } from "../format.tsx";
import { useQuery } from "../page.tsx";
import { useSession } from "../session.ts";
import { readStored, writeStored } from "../stored.ts";
import { type Task } from "./bulk-dialog.tsx";
import {
  columnTitle,
  type Declaration,
  findField,
  hasLabels,
  hasWords,
  placeFields,
  linkedReference,
  formatChoice,
} from "./declaration.ts";
import { type Filters, parseFilters } from "./list-address.ts";
import { ColumnsDialog, MoreMenu } from "./list-menus.tsx";
import { readName } from "./record.tsx";
import type { Selection } from "./selection.ts";

export function Toolbar(props: {
  of: Declaration;
  columns: readonly string[];
  /** Ids of the selected records. */
  ids: readonly string[];
  searchBox: RefObject<HTMLInputElement | null>;
  density: Density;
  isFiltering: boolean;
  onFilter: () => void;
}) {
  const { of, columns, ids, searchBox } = props;
  const [isChoosing, setChoosing] = useState(false);
  return (
    <div class="row screen">
      <SearchBox box={searchBox} />
      <FilterChips of={of} />
      <button type="button" class="chip chip-add" aria-expanded={props.isFiltering} onClick={props.onFilter}>
        <Icon name="list-filter" /> Filter
      </button>
      <div class="row end">
        <DensityChoice of={props.density} />
        <Button icon="columns-3" onClick={() => setChoosing(true)}>
          Columns
        </Button>
        <MoreMenu of={of} columns={columns} ids={ids} />
      </div>
      {isChoosing && <ColumnsDialog of={of} columns={columns} onClose={() => setChoosing(false)} />}
    </div>
  );
}

export interface Density {
  isCompact: boolean;
  choose: (isCompact: boolean) => void;
}

/** The height of rows, which this browser keeps. */
export function useDensity(): Density {
  const [isCompact, setCompact] = useState(false);
  useEffect(() => setCompact(readStored<string>("density", "comfortable") === "compact"), []);
  const choose = (compact: boolean): void => {
    writeStored("density", compact ? "compact" : null);
    setCompact(compact);
  };
  return { isCompact, choose };
}

const DensityChoice = ({ of: { isCompact, choose } }: { of: Density }) => (
  <div class="pointer-only">
    <Segment
      label="Density"
      value={isCompact ? "compact" : "comfortable"}
      choices={[
        ["comfortable", <Icon key="icon" name="rows-2" />, "Comfortable rows"],
        ["compact", <Icon key="icon" name="rows-4" />, "Compact rows"],
      ]}
      onChange={(value) => choose(value === "compact")}
    />
  </div>
);

/** Milliseconds after the last key. */
const PAUSE = 75;

/** Searches names while they are typed. */
function SearchBox({ box }: { box: RefObject<HTMLInputElement | null> }) {
  const [search, setQuery] = useQuery();
  const value = search.get("query") ?? "";
  const [text, setText] = useState(value);
  // A search that this box started must not replace text typed since.
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
  return Object.entries(parseFilters(search)).map(([name, values]) => {
    if (name === "query") return null;
    const title = name === "query_expression" ? "Filter" : filterTitle(of, name);
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

/** Comparisons in words: of days, then of other values. */
const COMPARISONS: Readonly<Record<string, readonly [string, string]>> = {
  gte: ["from", "at least"],
  gt: ["after", "more than"],
  lte: ["until", "at most"],
  lt: ["before", "less than"],
  icontains: ["contains", "contains"],
  istartswith: ["starts with", "starts with"],
  isnull: ["is empty", "is empty"],
};

/** `Expiry until` for `expiry__lte`. */
export function filterTitle(of: Declaration, name: string): string {
  const [, path, comparison] = /^(.+)__([a-z]+)$/.exec(name) ?? [];
  const words = path === undefined ? undefined : COMPARISONS[comparison];
  if (path === undefined || !words) return columnTitle(of, name);
  const kind = findField(of, path)?.kind;
  return `${columnTitle(of, path)} ${words[kind === "date" || kind === "instant" ? 0 : 1]}`;
}

/** A value of a filter: flags, and days counted from today, in words. */
export function filterWord(value: string): string {
  if (value === "true" || value === "false") return value === "true" ? "yes" : "no";
  const days = /^([+-]?\d+)d$/.exec(value)?.[1];
  if (days === undefined) return groupTitle(value);
  return Number(days) < 0 ? `${pluralize(-Number(days), "day")} ago` : `in ${pluralize(Number(days), "day")}`;
}

function ChipValues({ of, name, values }: { of: Declaration; name: string; values: readonly string[] }) {
  const field = findField(of, name);
  const to = linkedReference(field);
  const { value } = useLoaded(to ? values.join() : null, () =>
    Promise.all(values.slice(0, 3).map((id) => readName(to!, id))),
  );
  const words =
    field && hasWords(field)
      ? values.map((one) => formatChoice(one, field))
      : to
        ? (value ?? [])
        : values.map(filterWord);
  return <b>{name === "query_expression" ? "advanced" : words.join(" or ").slice(0, 60)}</b>;
}

const ICONS = { Move: "move", Edit: "pencil", Share: "share-2", Delete: "trash-2" } as const;

/** Actions on the selected records. */
export function BulkBar(props: {
  of: Declaration;
  selection: Selection;
  total: number;
  /** The records that are selected, as the list finds them. */
  found: Filters;
  onTask: (task: Task) => void;
}) {
  const { of, selection, total, found, onTask } = props;
  const [search] = useQuery();
  const session = useSession();
  if (selection.count === 0) return null;
  const tasks = (Object.keys(ICONS) as Task[]).filter(
    (task) => (task !== "Move" || placeFields(of).length > 0) && (task !== "Share" || of.guarded),
  );
  return (
    <section class="bulk row screen" aria-label="Selection">
      <span>{pluralize(selection.count, "record")} selected</span>
      {!selection.isAll && selection.isPageSelected && total > selection.ids.size && (
        <Button look="quiet" small onClick={selection.selectAll}>
          Select all {formatCount(total)}
        </Button>
      )}
      {hasLabels(of) && (
        <LinkButton
          look="quiet"
          small
          icon="printer"
          href={href("/inventory/labels", { list: of.name, ...found })}
        >
          Labels
        </LinkButton>
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
