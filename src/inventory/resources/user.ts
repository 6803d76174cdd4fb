import { text, uuid } from "../model/field.ts";
import { type Resource, rowNumber } from "../model/resource.ts";

/** Who records refer to. No more of an account than this can be reached through a filter, an ordering or a span. */
export const user: Resource = {
  name: "user",
  segment: null,
  model: "core.user",
  summary: "Accounts, as records refer to them.",
  table: "user_account",
  key: "username",
  printed: "key",
  names: ["username"],
  descriptions: [],
  order: ["username"],
  fields: {
    rid: rowNumber(),
    id: uuid("Identifier of the account."),
    username: text("Name by which the account signs in.", { write: "never", unique: true }),
    full_name: text("Name of the person.", { write: "never" }),
  },
};
