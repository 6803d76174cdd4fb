import { useState } from "preact/hooks";
import type { WatchedObject } from "../../scoring/index.ts";
import { href } from "../address.ts";
import { Button, LinkButton } from "../components/button.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { showToast, withErrorToast } from "../components/toast.tsx";
import { get, requestJson } from "../request.ts";
import { useSession } from "../session.ts";
import type { Job } from "./job.ts";

export const WATCHED = "/api/scoring/watched-queries";

/** A query that is scored again when another corpus is used. */
export type Watched = WatchedObject;

/** Saves the query of a result for signed-in people, or leads to the page with its changes. */
export function WatchButton({ job }: { job: Job | null }) {
  const session = useSession();
  const [busy, setBusy] = useState(false);
  const id = session && job?.state === "finished" && !job.hasOwnAlignment ? job.id : null;
  const watched = useLoaded(id, async (signal) => {
    const { results } = await get<{ results: Watched[] }>(WATCHED, {}, signal);
    return results.some((query) => query.job === id);
  });
  if (watched.value === undefined) return null;
  if (watched.value)
    return (
      <LinkButton icon="eye" href={href("/changes")}>
        Watched
      </LinkButton>
    );
  const watch = async (): Promise<void> => {
    setBusy(true);
    await withErrorToast(async () => {
      await requestJson<Watched>("POST", WATCHED, { body: { job: id } });
      watched.update(() => true);
      showToast("Watched: the query is scored again when another corpus is used.");
    });
    setBusy(false);
  };
  return (
    <Button icon="eye" busy={busy} onClick={() => void watch()}>
      Watch
    </Button>
  );
}
