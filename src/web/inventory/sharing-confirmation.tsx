import { useEffect, useState } from "preact/hooks";
import type { Exposure } from "../../inventory/records/exposure.ts";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { pluralize } from "../format.tsx";
import { onConfirmationRequired } from "../request.ts";

/** Shows what becomes visible before a record is published or shared with another group. */

const NOUNS: Readonly<Record<string, string>> = {
  versions: "earlier version",
  annotations: "annotation",
  notes: "note",
  attachments: "file",
};

/** `2 notes and 1 file`; empty without any. */
function formatCounts(counts: Readonly<Record<string, number>>, deleted = ""): string {
  const parts = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => pluralize(count, `${name === "versions" ? "" : deleted}${NOUNS[name] ?? name}`));
  return new Intl.ListFormat("en").format(parts);
}

const describeAudience = ({ public: isPublic, group }: Exposure): string =>
  isPublic ? "Everyone" : `The group ${String(group)}`;

/** The records that more people could view, with what becomes visible and what stays hidden. */
export function ExposedRecords({ exposes }: { exposes: readonly Exposure[] }) {
  if (exposes.length === 0) return null;
  return (
    <div class="banner banner-warn">
      <div class="grow">
        <p>
          <strong>{describeAudience(exposes[0])} will be able to view:</strong>
        </p>
        <ul class="bullets">
          {exposes.map((exposed) => (
            <Exposed key={exposed.id} exposed={exposed} />
          ))}
        </ul>
      </div>
    </div>
  );
}

function Exposed({ exposed }: { exposed: Exposure }) {
  const visible = formatCounts(exposed.visible);
  const hidden = formatCounts(exposed.hidden, "deleted ");
  return (
    <li>
      <strong>{String(exposed.name)}</strong>
      {visible && `, with ${visible}`}.{hidden && <small class="muted"> {hidden} will stay hidden.</small>}
    </li>
  );
}

interface Prompt {
  exposes: readonly Exposure[];
  count: number;
  resolve: (confirmed: boolean) => void;
}

/** Asks before a request of any page shows records to more people; the shell holds it. */
export function SharingConfirmation() {
  const [prompt, setPrompt] = useState<Prompt | null>(null);
  useEffect(
    () =>
      onConfirmationRequired("sharing_unconfirmed", async ({ body }) => {
        const exposes = body.exposes as readonly Exposure[];
        const count = Number(body.count);
        const confirmed = await new Promise<boolean>((resolve) => setPrompt({ exposes, count, resolve }));
        return confirmed ? { confirm: String(body.confirm) } : null;
      }),
    [],
  );
  if (prompt === null) return null;
  const { exposes, count, resolve } = prompt;
  const end = (confirmed: boolean): void => {
    setPrompt(null);
    resolve(confirmed);
  };
  const isPublic = exposes[0]?.public;
  return (
    <Dialog
      cancel
      title={isPublic ? "Make public" : "Share with another group"}
      onClose={() => end(false)}
      actions={
        <Button look="primary" onClick={() => end(true)}>
          {isPublic ? "Make public" : "Share with group"}
        </Button>
      }
    >
      <ExposedRecords exposes={exposes} />
      {count > exposes.length && <p class="muted">{pluralize(count, "change")} in total.</p>}
    </Dialog>
  );
}
