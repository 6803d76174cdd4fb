import { useState } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { Combobox, type Found } from "../components/combobox.tsx";
import { Dialog } from "../components/dialog.tsx";
import { Time } from "../format.tsx";
import { navigate } from "../page.tsx";
import { type Answer, call } from "../request.ts";

type Task = Pick<Answer<"GET /api/tasks/">["results"][number], "id" | "subject" | "ended">;

/** Results among which the words are looked for, and that are shown. */
const MAX_SEARCHED = 1000;
const MOST = 20;
const IDENTIFIER = /[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}/i;

/** Finished results of the caller with these words, or the one of a link or identifier. */
async function findResults(text: string, job: string, signal: AbortSignal): Promise<Found<Task>> {
  const id = IDENTIFIER.exec(text)?.[0];
  if (id !== undefined) {
    const { identifier, protein, ended } = await call("GET /api/scoring/jobs/:id", {
      params: { id },
      signal,
    });
    return { options: [{ id, subject: identifier || protein?.accession || "Protein", ended }] };
  }
  const query = { kind: "job", owner: "me", limit: MAX_SEARCHED } as const;
  const { results } = await call("GET /api/tasks/", { query, signal });
  const words = text.toLowerCase().split(/\s+/);
  const found = results.filter(
    ({ id, state, subject }) =>
      id !== job && state === "finished" && words.every((word) => subject.toLowerCase().includes(word)),
  );
  if (found.length > 0) return { options: found.slice(0, MOST) };
  return { options: [], note: "None of your results has these words. Paste the link of any other result." };
}

/** Chooses the result with which one is compared. */
export function CompareWith({ job }: { job: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button icon="arrow-left-right" onClick={() => setOpen(true)}>
        Compare with…
      </Button>
      {isOpen && (
        <Dialog title="Compare with another result" onClose={() => setOpen(false)} cancel actions={<></>}>
          <Combobox<Task>
            label="Result"
            hint="Of this or another protein: one of yours, or the link or identifier of any."
            placeholder="Name or link"
            shown=""
            search={(text, signal) => findResults(text, job, signal)}
            optionKey={({ id }) => id}
            onChoose={({ id }) => navigate("/score/compare", { a: job, b: id })}
          >
            {({ subject, ended }) => (
              <>
                {subject || "Protein"}{" "}
                <small>
                  <Time at={ended} />
                </small>
              </>
            )}
          </Combobox>
        </Dialog>
      )}
    </>
  );
}
