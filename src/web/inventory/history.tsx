import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Change as RecordedChange } from "../../inventory/api/route-history.ts";
import { formatAmount, formatDecrease } from "../../inventory/model/unit.ts";
import { Button } from "../components/button.tsx";
import { Card } from "../components/layout.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { Time } from "../format.tsx";
import { CompareDialog, listVersions } from "./compare-versions.tsx";
import {
  findAnnotation,
  api,
  type Declaration,
  type FieldInfo,
  isSetByPeople,
  storedIn,
} from "./declaration.ts";
import { levelName } from "./sharing.tsx";
import { formatText, isNamed, Person, PlainValue, type RecordValue, type Row, UnitText } from "./record.tsx";
import { readHistory } from "./read-list.ts";
import { undo } from "./write-record.ts";
import { useRecentChanges } from "./recent-changes.tsx";
import { useSession } from "../session.ts";

type Values = Record<string, RecordValue>;
export type Change = RecordedChange & { before: Values | null; after: Values | null };
/** A change with all values that are known from before and after it. */
type Known = Change & { was: Values; is: Values };

const VERBS = { create: "created", update: "changed", delete: "deleted", restore: "restored" };
const PART_VERBS = { ...VERBS, create: "added", delete: "removed" };
/** Sub-resources, and the values that describe them. */
const PARTS: Readonly<Record<string, { name: string; fields: readonly string[] }>> = {
  notes: { name: "note", fields: ["content"] },
  attachments: { name: "file", fields: ["name"] },
  permissions: { name: "permission", fields: ["group", "user"] },
};
const MAX_TEXT = 80;

/** Numbers of changes that are loaded and shown at first. */
const PAGE_SIZE = 200;
const SHOWN = 10;

interface HistoryProps {
  of: Declaration;
  row: Row;
  /** Changes when a sub-resource does. */
  revision: number;
  onRestored: (row: Row) => void;
  onUndone: () => void;
}

/** The changes of a record, and its versions side by side. */
export function History({ of, row, revision, onRestored, onUndone }: HistoryProps) {
  const [size, setSize] = useState(PAGE_SIZE);
  const [shown, setShown] = useState(SHOWN);
  const [isComparing, setComparing] = useState(false);
  const path = api(of.name, `${row.id}/history/`);
  const history = useLoaded(`${path} ${row.version} ${revision} ${size}`, (signal) =>
    readHistory(of.name, row.id, { page_size: size }, signal),
  );
  const { total = 0, results = [] } = history.value ?? {};
  // A deleted record is restored first.
  const mayUndo = useSession() && row.values.deleted !== true;
  const batches = useRecentChanges(
    mayUndo ? { resource: of.name, record: row.id, page_size: String(shown) } : null,
    `${row.version} ${revision}`,
  );
  const undoable = new Map(
    ((mayUndo && batches.value?.results) || [])
      .filter(({ cannot_undo }) => cannot_undo === null)
      .map(({ id, sentence }) => [id, sentence]),
  );
  const used = new Set(
    batches.value?.results.filter(({ kind }) => kind === "consume").map(({ id }) => id) ?? [],
  );
  const versions = listVersions(of, results);
  const showMore = (): void => {
    setShown(results.length);
    if (shown === results.length) setSize(size * 5);
  };
  return (
    <Card
      title="History"
      count={history.value?.total}
      actions={
        versions.length > 1 && (
          <Button look="quiet" small onClick={() => setComparing(true)}>
            Compare versions
          </Button>
        )
      }
    >
      <Loaded of={history}>
        {() => (
          <>
            <ol class="timeline" reversed>
              {withStates(results, row)
                .slice(0, shown)
                .map((change, i, all) => (
                  <li key={change.cursor}>
                    <div class="sentence">
                      <b>{change.full_name || change.user}</b>{" "}
                      <Entry of={of} change={change} isUse={used.has(change.batch)} />
                    </div>
                    <p class="muted">
                      <Time at={change.at} />
                      {change.token && `, token ${change.token.name}`}
                      {undoable.has(change.batch) && change.batch !== all[i - 1]?.batch && (
                        <>
                          {" "}
                          <Button
                            look="quiet"
                            small
                            icon="undo-2"
                            aria-label={`Undo: ${undoable.get(change.batch)}`}
                            onClick={() => void undo(change.batch, onUndone)}
                          >
                            Undo
                          </Button>
                        </>
                      )}
                    </p>
                  </li>
                ))}
            </ol>
            {total > shown && <Button onClick={showMore}>Show {total - shown} earlier</Button>}
          </>
        )}
      </Loaded>
      {isComparing && (
        <CompareDialog {...{ of, row, versions, onRestored, onUndone }} onClose={() => setComparing(false)} />
      )}
    </Card>
  );
}

/** Adds to each change, the latest first, the values that it kept. */
export function withStates(
  changes: readonly Change[],
  { id: record, values }: Pick<Row, "id" | "values">,
): Known[] {
  const today = Object.entries(values).map(([name, value]) => [name, isNamed(value) ? value.id : value]);
  const states = new Map<string, Values>([[record, Object.fromEntries(today) as Values]]);
  for (const { id, before } of changes) states.set(String(id), { ...states.get(String(id)), ...before });
  return changes
    .toReversed()
    .map((change) => {
      const was = states.get(String(change.id))!;
      const is = { ...was, ...change.after };
      states.set(String(change.id), is);
      return Object.assign({}, change, { was, is });
    })
    .toReversed();
}

function partText({ resource, is }: Known): string {
  const words = PARTS[resource].fields.flatMap((name) => {
    const value = is[name] ?? false;
    return value === false ? [] : value === true ? `can ${name}` : formatText(value);
  });
  return words.join(", ").slice(0, MAX_TEXT);
}

function Entry({ of, change, isUse }: { of: Declaration; change: Known; isUse: boolean }) {
  const { resource, op, before, after, was, is } = change;
  if (resource === "annotations") return <AnnotationChange of={of} change={change} />;
  if (resource === "permissions")
    return (
      <div>
        {op === "delete" ? "stopped sharing it with " : "shared it with "}
        {partText(change)}
        {op !== "delete" && `: ${levelName(is).toLowerCase()}`}
      </div>
    );
  if (resource in PARTS)
    return (
      <div>
        {PART_VERBS[op]} a {PARTS[resource].name}: {partText(change)}
      </div>
    );
  if (op !== "update" || !before || !after) return <div>{VERBS[op]} it</div>;
  const location = storedIn(of);
  const place = location === undefined ? [] : [location, of.fields[location].form!.suffix!];
  const isMove = place.some((name) => name in after);
  const names = Object.keys(after).filter(
    (name) => isSetByPeople(of, name) && of.fields[name]?.write !== "never" && !place.includes(name),
  );
  return (
    <>
      {isMove && <Move {...{ was, is }} field={of.fields[location!]} />}
      {after.taken_out_by !== undefined && <TakenOut change={change} />}
      {isUse && <Used of={of} change={change} />}
      {names
        .filter((name) => !isUse || name !== "amount")
        .map((name) => (
          <Replaced
            key={name}
            what={of.fields[name]?.label ?? name}
            was={isEmpty(was[name]) ? undefined : <Amount of={of} name={name} values={was} />}
            is={isEmpty(is[name]) ? undefined : <Amount of={of} name={name} values={is} />}
          />
        ))}
    </>
  );
}

/** `used 200 µL, 800 µL left`. */
function Used({ of, change: { was, is } }: { of: Declaration; change: Known }) {
  const [from, value] = [Number(was.amount), Number(is.amount)];
  const print = (unit: string): ComponentChildren => (
    <div>
      used <ins>{formatDecrease(from, value, unit)}</ins>, {formatAmount({ value, unit })} left
    </div>
  );
  return <UnitText unit={is.unit} field={of.fields.unit} print={print} />;
}

/** `took it out`, `handed it to Jonas Weber`, `put it back`. */
function TakenOut({ change: { user, was, is } }: { change: Known }) {
  const [before, now] = [was.taken_out_by, is.taken_out_by];
  if (isEmpty(now)) return <div>put it back</div>;
  if (now === user) return <div>{isEmpty(before) ? "took it out" : "took it over"}</div>;
  return (
    <div>
      {isEmpty(before) ? "took it out for" : "handed it to"} <Person username={String(now)} />
    </div>
  );
}

const isEmpty = (value: RecordValue | undefined): boolean =>
  value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);

/** `changed Amount from 20 µl to 15 µl`, `set Lot to L7`, `removed Lot L7`, after the name of a person. */
function Replaced(props: { what: string; was: ComponentChildren; is: ComponentChildren }) {
  const { what, was, is } = props;
  const from = was !== undefined && <del>{was}</del>;
  if (is === undefined)
    return (
      <div>
        removed {what} {from}
      </div>
    );
  return (
    <div>
      {from ? "changed" : "set"} {what} {from && <>from {from} </>}to <ins>{is}</ins>
    </div>
  );
}

/** A value, with its unit if it is an amount. */
function Amount({ of, name, values }: { of: Declaration; name: string; values: Values }) {
  const unit = of.fields[name]?.form?.suffix;
  const value = values[name];
  if (unit === undefined || typeof value !== "number" || !values[unit])
    return <PlainValue value={value} field={of.fields[name]} />;
  const print = (symbol: string): string => formatAmount({ value, unit: symbol });
  return <UnitText unit={values[unit]} field={of.fields[unit]} print={print} />;
}

function AnnotationChange({ of, change: { op, was, is } }: { of: Declaration; change: Known }) {
  const name = findAnnotation(of, is.annotation_type);
  return (
    <Replaced
      what={name === undefined ? "metadata" : of.annotations[name].label}
      was={op === "update" || op === "delete" ? formatText(was.value) : undefined}
      is={op === "delete" ? undefined : formatText(is.value)}
    />
  );
}

/** `moved it from Box 2 A1 to Box 3 B4`. */
function Move({ was, is, field }: { was: Values; is: Values; field: FieldInfo }) {
  const place = ({ location, position }: Values) => (
    <>
      <PlainValue value={location} field={field} /> {position}
    </>
  );
  if (was.location === is.location && was.position && is.position)
    return (
      <div>
        moved it from slot {was.position} to <ins>{is.position}</ins>
      </div>
    );
  return (
    <div>
      {was.location && is.location ? "moved it from" : was.location ? "took it out of" : "put it into"}{" "}
      {was.location && place(was)}
      {was.location && is.location && " to "}
      {is.location && <ins>{place(is)}</ins>}
    </div>
  );
}
