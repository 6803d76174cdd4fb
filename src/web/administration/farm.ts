import { useLoaded } from "../components/loaded.tsx";
import { type Answer, call } from "../request.ts";

/** A server with a queue: its farm. */
export type Farm = Extract<Answer<"GET /api/admin/farm">, { enabled: true }>;

export const getFarm = (signal: AbortSignal) => call("GET /api/admin/farm", { signal });

export const useFarm = () => useLoaded("farm", getFarm);
