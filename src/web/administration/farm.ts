import { useLoaded } from "../components/loaded.tsx";
import { get } from "../request.ts";

/** What `GET /api/admin/farm` answers. */
export type FarmAnswer =
  | { enabled: false }
  | {
      enabled: true;
      queue: string;
      mode: string;
      state: "there" | "away" | "taken" | "refuses";
      cause: string | null;
      pool_works: boolean;
      backlog: number;
      oldest: string | null;
      waiting: number;
      running: number;
      counts: Record<"finished" | "failed" | "late" | "returned" | "lost", number>;
      workers: {
        name: string;
        version: string;
        concurrency: number;
        fits: boolean;
        draining: boolean;
        jobs: { id: string; stage: string; fraction: number }[];
        counts: Record<"finished" | "failed" | "returned", number>;
        memory: number;
        since: string;
      }[];
      mixed: string[];
    };

export const useFarm = () => useLoaded("farm", (signal) => get<FarmAnswer>("/api/admin/farm", {}, signal));
