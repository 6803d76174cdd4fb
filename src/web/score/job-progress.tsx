import { href } from "../address.ts";
import { LinkButton } from "../components/button.tsx";
import { Empty } from "../components/empty.tsx";
import { TaskProgress } from "../components/task-progress.tsx";
import { type Job, cancelJob } from "./job.ts";

const STAGES = {
  homologs: "Searching for homologs",
  tree: "Building the tree",
  scores: "Scoring the matches",
};

/** The progress of a job that has not ended, which its owner can cancel. */
export function JobProgress({ job }: { job: Job }) {
  const step = Math.max(0, Object.keys(STAGES).indexOf(job.stage ?? ""));
  const isWaiting = job.state === "queued";
  return (
    <TaskProgress
      name="Progress"
      message={
        isWaiting
          ? `Waiting: place ${job.place ?? 1} in the queue.`
          : `Step ${step + 1} of 3: ${Object.values(STAGES)[step]}`
      }
      fraction={job.stage === "start" ? null : (job.fraction ?? 0)}
      isWaiting={isWaiting}
      onCancel={job.mayChange ? () => cancelJob(job.id) : undefined}
      isShared
    />
  );
}

const ENDED_TITLES: Partial<Record<Job["state"], string>> = {
  failed: "Scoring failed",
  cancelled: "Scoring was cancelled",
  expired: "The result has expired",
};

/** A job that has ended without a result. */
export const NoResult = ({ job }: { job: Job }) => (
  <Empty title={ENDED_TITLES[job.state] ?? "No result"}>
    {job.state !== "cancelled" && <p>{job.failure}</p>}
    <LinkButton href={href("/score")}>Score again</LinkButton>
  </Empty>
);
