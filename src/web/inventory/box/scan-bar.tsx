import { useState } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { get } from "../../request.ts";
import { Scanner } from "../scanner.tsx";
import { batchOf, undo } from "../write-record.ts";
import { moveInto, type Slots, STORED_LISTS } from "./slots.ts";

interface Scanned {
  segment: string;
  id: string;
  name: string;
}

const isStored = ({ segment }: Scanned): boolean => (STORED_LISTS as readonly string[]).includes(segment);

/** Every scanned tube goes to the selected slot or the next free one. */
export function ScanBar(props: {
  box: Slots;
  target: string | null;
  onMoved: (position: string | null) => void;
  onStop: () => void;
}) {
  const { box, target, onMoved, onStop } = props;
  const [last, setLast] = useState<{ code: string; text: string; batch: string | null } | null>(null);
  const scan = async (code: string): Promise<void> => {
    const tell = (text: string, batch: string | null = null) => setLast({ code, text, batch });
    if (target === null) return tell("was not moved: the box is full.");
    try {
      const { results } = await get<{ results: Scanned[] }>("/api/v2/scan/", { code });
      const records = results.filter(isStored);
      if (records.length === 0) return tell("is not the code of a consumable or specimen that you may view.");
      if (records.length > 1) return tell(`is the code of ${records.length} records. Open one and move it.`);
      const [{ id, name }] = records;
      const response = await moveInto(box.id, { records: [id], positions: [target] });
      tell(`${name} is now in ${target}.`, batchOf(response));
      onMoved(target);
    } catch (error) {
      tell(`was not moved: ${(error as Error).message}`);
    }
  };
  const takeBack = (batch: string): Promise<void> =>
    undo(batch, () => {
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
          <Button look="quiet" small icon="undo-2" onClick={() => void takeBack(last.batch!)}>
            Undo
          </Button>
        )}
        <Button small onClick={onStop}>
          Stop scanning
        </Button>
      </div>
      <Scanner onCode={(code) => void scan(code)} hint="Scan or type the code of a tube." />
    </div>
  );
}
