import { useRef, useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { type Found, findScanned, movedTo, moveRecords } from "../../offline/relocation.ts";
import { STOCK_LISTS } from "../declaration.ts";
import { Scanner } from "../scanner.tsx";
import { readBatchId, undo } from "../write-record.ts";
import { freePositionsIn, type Slots } from "./slots.ts";

const isStored = ({ segment }: Found): boolean => STOCK_LISTS.includes(segment);

/** Every scanned tube goes to the selected slot or the next free one. */
export function ScanBar(props: {
  box: Slots;
  target: string | null;
  onMoved: (position: string | null) => void;
  onStop: () => void;
}) {
  const { box, target, onMoved, onStop } = props;
  const [last, setLast] = useState<{ code: string; text: string; batch: string | null } | null>(null);
  const latest = useRef({ box, target });
  latest.current = { box, target };
  // Scanners are faster than moves: each scan takes the slot after the slot of the previous scan.
  const filled = useRef(new Set<string>());
  const queue = useRef(Promise.resolve());
  const move = async (code: string): Promise<string> => {
    const free = [latest.current.target ?? "", ...freePositionsIn(latest.current.box)];
    const position = free.find((each) => each !== "" && !filled.current.has(each));
    if (position === undefined) throw new Error("was not moved: the box is full.");
    const records = (await findScanned(code)).filter(isStored);
    if (records.length === 0)
      throw new Error("is not the code of a consumable or specimen that you may view.");
    if (records.length > 1)
      throw new Error(`is the code of ${records.length} records. Open one and move it.`);
    const [{ name }] = records;
    const place = { id: box.id, name: box.unique_path };
    const response = await moveRecords(place, movedTo(position, records[0])).catch((error: unknown) => {
      throw new Error(`was not moved: ${(error as Error).message}`);
    });
    const text = response ? `${name} is now in ${position}.` : `${name} waits to be moved to ${position}.`;
    setLast({ code, text, batch: response && readBatchId(response) });
    filled.current.add(position);
    return position;
  };
  const scan = (code: string): void => {
    queue.current = queue.current.then(() =>
      move(code).then(onMoved, (error: Error) => setLast({ code, text: error.message, batch: null })),
    );
  };
  const undoMove = (batch: string): Promise<void> =>
    undo(batch, () => {
      filled.current.clear();
      setLast(null);
      onMoved(null);
    });
  return (
    <div class="stack screen">
      <div class="scanbar">
        <span class="pulse" />
        <p class="grow" role="status">
          <strong>Scan mode is on.</strong>{" "}
          {last && (
            <>
              <code>{last.code}</code> {last.text}{" "}
            </>
          )}
          {target === null ? (
            "The box is full."
          ) : (
            <>
              The next tube goes to <strong>{target}</strong>.
            </>
          )}
        </p>
        {last?.batch && (
          <Button look="quiet" small icon="undo-2" onClick={() => void undoMove(last.batch!)}>
            Undo
          </Button>
        )}
        <Button small onClick={onStop}>
          Stop scanning
        </Button>
      </div>
      <Scanner onCode={scan} hint="Scan or type the code of a tube." />
    </div>
  );
}
