import { get } from "../request.ts";
import { pageOf } from "./declaration.ts";

/** A record that a code means. */
export interface Match {
  segment: string;
  id: string;
  name: string;
  by?: "id" | "barcode";
}

/** What a scanner read. @throws Refusal */
export const lookUp = async (code: string): Promise<Match[]> =>
  (await get<{ results: Match[] }>("/api/v2/scan/", { code })).results;

export const pageOfMatch = ({ segment, id }: Match): string => pageOf(segment, id);
