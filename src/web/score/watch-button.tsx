import { useState } from "preact/hooks";
import { href } from "../address.ts";
import { Button, LinkButton } from "../components/button.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { showToast, withErrorToast } from "../components/toast.tsx";
import { type Answer, call } from "../request.ts";
import { useSession } from "../session.ts";
import type { Job } from "./job.ts";

/** A query that is scored again when another corpus is used. */
export type Watched = Answer<"GET /api/scoring/watched-queries">["results"][number];

/** Saves the query of a result for signed-in people, or leads to the page with its changes. */
export function WatchButton({ job }: { job: Pick<Job, "id" | "state" | "hasOwnAlignment"> | null }) {
  const session = useSession();
  const [busy, setBusy] = useState(false);
  const id = session && job?.state === "finished" && !job.hasOwnAlignment ? job.id : null;
  const watched = useLoaded(id, async (signal) => {
    const { results } = await call("GET /api/scoring/watched-queries", { signal });
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
      await call("POST /api/scoring/watched-queries", { body: { job: id! } });
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
