import { type TSchema, Type } from "typebox";
import { schema } from "../platform/schema.ts";

const MEANINGS = {
  400: "A field is invalid; the answer names it.",
  401: "Credentials are missing or invalid.",
  403: "Not allowed for this caller.",
  404: "Not found, or not visible to the caller.",
  409: "Not possible now; the message says why.",
  413: "There is not enough space for the file.",
};
type Status = keyof typeof MEANINGS;

const failure = (description: string) =>
  schema(Type.Object({ code: Type.String(), message: Type.String() }, { description }));

/** Schemas of error responses, for `response` of a route. */
export const errors = <S extends Status>(...statuses: S[]) =>
  Object.fromEntries(statuses.map((status) => [status, failure(MEANINGS[status])])) as {
    [status in S]: ReturnType<typeof failure>;
  };

/** The schema of a 204 response. */
export const NO_CONTENT = schema(Type.Void({ description: "Done." }));

/** The schema of a whole list. */
export const listSchema = <Item extends TSchema>(item: Item, description: string) =>
  schema(Type.Object({ total: Type.Integer(), results: Type.Array(item) }, { description }));
export const list = <Item>(results: Item[]) => ({ total: results.length, results });

/** A time in milliseconds since 1970-01-01 UTC as RFC 3339. */
export const timestamp = (time: number): string => new Date(time).toISOString();
export const timestampOrNull = (time: number | null): string | null =>
  time === null ? null : timestamp(time);
