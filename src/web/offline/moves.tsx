import { useRef, useState } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { SelectField } from "../components/field.tsx";
import { Tag } from "../components/layout.tsx";
import { STOCK_LISTS } from "../inventory/declaration.ts";
import { showDone } from "../inventory/write-record.ts";
import { type Found, findScanned, movedTo, moveRecords } from "./relocation.ts";

interface Logged {
  code: string;
  text: string;
  tone: "ok" | "warn" | "danger";
}

const MOST = 20;

/** The destination of the next item. */
interface Target {
  place: Found;
  /** Free positions; empty in a location without a grid and in a full location. */
  position: string;
}

/** Moves scanned items into the location that was scanned before them, without a network, too. */
export function useMoves() {
  const [target, setTarget] = useState<Target | null>(null);
  const [log, setLog] = useState<readonly Logged[]>([]);
  // Scanners are faster than moves: each scan starts where the one before it ended.
  const last = useRef<Promise<Target | null>>(Promise.resolve(null));
  const change = (next: Target | null): void => {
    last.current = last.current.then(() => next);
    setTarget(next);
  };
  const run = async (before: Target | null, code: string): Promise<Target | null> => {
    const addLog = (text: string, tone: Logged["tone"]): void =>
      setLog((logged) =>
        [{ code, text, tone }, ...logged.filter((each) => each.code !== code)].slice(0, MOST),
      );
    try {
      const found = await findOne(code);
      if (found.segment === "locations") {
        addLog(`${found.name}: the following items go here.`, "ok");
        return { place: found, position: found.free?.[0] ?? "" };
      }
      const { place, position } = requireTarget(found, before);
      const response = await moveRecords({ id: place.id, name: place.name }, movedTo(position, found));
      if (response) showDone(`Moved ${found.name}.`, response, () => {});
      const where = [place.name, position].filter(Boolean).join(", ");
      addLog(
        `${found.name} ${response ? "is now in" : "waits to be moved to"} ${where}.`,
        response ? "ok" : "warn",
      );
      return nextTarget({ place, position });
    } catch (error) {
      addLog((error as Error).message, "danger");
      return before;
    }
  };
  const scan = async (code: string): Promise<void> => {
    last.current = last.current.then((before) => run(before, code));
    setTarget(await last.current);
  };
  return { scan, view: <MovesView target={target} log={log} onChange={change} /> };
}

/** @throws Error with the necessary first step */
function requireTarget({ name, segment }: Found, target: Target | null): Target {
  if (!STOCK_LISTS.includes(segment)) throw new Error(`${name} is not stored in locations.`);
  if (target === null) throw new Error(`${name} was not moved. Scan the location first.`);
  const { place, position } = target;
  if (place.free && position === "") throw new Error(`${name} was not moved: ${place.name} is full.`);
  return target;
}

/** The free position that follows in the order of the grid, or the first. */
function nextTarget({ place, position }: Target): Target {
  const following = place.free?.[place.free.indexOf(position) + 1];
  const free = place.free?.filter((each) => each !== position) ?? null;
  return { place: { ...place, free }, position: following ?? free?.[0] ?? "" };
}

function MovesView(props: {
  target: Target | null;
  log: readonly Logged[];
  onChange: (target: Target | null) => void;
}) {
  const { target, log, onChange } = props;
  return (
    <div class="stack">
      {target === null ? (
        <p class="note" role="status">
          Scan a location, then the items that go there.
        </p>
      ) : (
        <div class="note row">
          <span class="grow" role="status">
            Moving to <strong>{target.place.name}</strong>
            {target.place.free && target.position === "" && ", which is full"}
          </span>
          <Button small onClick={() => onChange(null)}>
            Leave {target.place.name}
          </Button>
        </div>
      )}
      {target?.place.free && target.position !== "" && (
        <SelectField
          label="Next position"
          value={target.position}
          choices={target.place.free.map((value) => ({ value, name: value }))}
          onChange={(position) => onChange({ ...target, position })}
        />
      )}
      <div role="status">
        <ul class="stack" aria-label="Moves">
          {log.map(({ code, text, tone }) => (
            <li key={code}>
              <Tag tone={tone}>{code}</Tag> {text}
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

/** @throws Error with advice, or that of the request */
async function findOne(code: string): Promise<Found> {
  const found = await findScanned(code);
  if (found.length === 1) return found[0];
  throw new Error(
    found.length === 0
      ? "No record that you can view has this code."
      : `${found.length} records have this code.`,
  );
}
