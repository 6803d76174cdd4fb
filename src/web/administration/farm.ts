import type { FarmState } from "../../farm/index.ts";
import { useLoaded } from "../components/loaded.tsx";
import { get } from "../request.ts";
import type { Printed } from "./printed.ts";

type Worker = FarmState["workers"][number];

/** A server with a queue: its farm. */
export interface Farm extends Omit<FarmState, "poolWorks" | "oldest" | "workers"> {
  enabled: true;
  pool_works: boolean;
  oldest: string | null;
  workers: Printed<Worker, "since">[];
}

export const getFarm = (signal: AbortSignal) => get<Farm | { enabled: false }>("/api/admin/farm", {}, signal);

export const useFarm = () => useLoaded("farm", getFarm);
