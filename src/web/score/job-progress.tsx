import { href } from "../address.ts";
import { Button, LinkButton } from "../components/button.tsx";
import { Empty } from "../components/empty.tsx";
import { Card } from "../components/layout.tsx";
import { Progress } from "../components/progress.tsx";
import { withErrorToast } from "../components/toast.tsx";
import { requestJson } from "../request.ts";
import { type Job, jobPath } from "./job.ts";

const STAGES = {
  homologs: "Searching for homologs",
  tree: "Building the tree",
  scores: "Scoring the matches",
};

/** The progress of a job that has not ended, which its owner can cancel. */
export function JobProgress({ job }: { job: Job }) {
  const step = Math.max(0, Object.keys(STAGES).indexOf(job.stage ?? ""));
  const cancel = (): Promise<void> => withErrorToast(() => requestJson("DELETE", jobPath(job.id)));
  return (
    <Card title="Progress" actions={job.mayChange && <Button onClick={() => void cancel()}>Cancel</Button>}>
      {job.state === "queued" ? (
        <p role="status">Waiting: place {job.place ?? 1} in the queue.</p>
      ) : (
        <Progress
          label={`Step ${step + 1} of 3: ${Object.values(STAGES)[step]}`}
          fraction={job.stage === "start" ? undefined : (job.fraction ?? 0)}
        />
      )}
      <p class="hint">You can close this page and return to its address later.</p>
    </Card>
  );
}

const ENDED: Partial<Record<Job["state"], string>> = {
  failed: "The job failed",
  cancelled: "The job was cancelled",
  expired: "The result has expired",
};

/** A job that has ended without a result. */
export const NoResult = ({ job }: { job: Job }) => (
  <Empty title={ENDED[job.state] ?? "No result"}>
    {job.state !== "cancelled" && <p>{job.failure}</p>}
    <LinkButton href={href("/score")}>Score again</LinkButton>
  </Empty>
);
