import type { AdministrationContext } from "./administered.ts";
import {
  withTimestamps,
  describeOperation,
  type Endpoint,
  timestamp,
  json,
} from "../../accounts/endpoint.ts";

/** The farm: workers on other machines, and the queue between. */
export function farmEndpoints({ farm }: AdministrationContext): Endpoint[] {
  return [
    {
      path: "/api/admin/farm",
      methods: {
        GET: {
          detail: describeOperation(
            "The farm: queue, workers, what each of them runs, and what does not go together",
            {
              answers: { 200: "`enabled` alone, and false, where the server has no queue (setting queue)." },
            },
          ),
          answer() {
            const state = farm();
            if (state === null) return json({ enabled: false });
            const { poolWorks, ...rest } = state;
            const workers = state.workers.map((worker) => ({
              ...withTimestamps(worker, "since"),
              jobs: worker.jobs.map((job) => withTimestamps(job, "since")),
            }));
            return json({
              enabled: true,
              ...rest,
              pool_works: poolWorks,
              oldest: timestamp(state.oldest),
              workers,
            });
          },
        },
      },
    },
  ];
}
