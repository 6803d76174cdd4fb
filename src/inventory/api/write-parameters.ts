/** What writes take besides their body, for the OpenAPI document. */

const text = { type: "string" };
const named = (place: "query" | "header") => (name: string, description: string) => ({
  name,
  in: place,
  required: false,
  description,
  schema: text,
});
const query = named("query");
const header = named("header");

/** Of everything that writes. */
export const DRY_RUN = [
  query("dry_run", "1: change nothing, and tell what would change, with a value for `confirm`."),
  query("changes", "How many changes a dry run tells at most; `count` counts all of them."),
  query("confirm", "What a dry run gave: do exactly that, or answer 409."),
];

/** Of POST. */
export const ONCE = [
  header(
    "Idempotency-Key",
    "A word of the client's choice: the same request with the same key is done once, and gets the same answer again, for 24 hours.",
  ),
];

/** Of writes of one record. */
export const MATCH = [
  header("If-Match", 'Write only where the record has one of these tags; a version, `"3"`, serves too.'),
];

/** Of reads. */
export const NONE_MATCH = [
  header("If-None-Match", "Tags of answers that the client has: 304 where nothing has changed."),
];

/** What a dry run answers. */
export const PREVIEW = {
  type: "object",
  required: ["dry_run", "count", "confirm", "changes"],
  properties: {
    dry_run: { type: "boolean" },
    count: { type: "integer" },
    confirm: text,
    changes: { type: "array", items: { type: "object" } },
  },
  description: "What would change, record by record, with values before and after.",
};

/** A JSON Patch (RFC 6902). */
export const PATCH = {
  type: "array",
  items: {
    type: "object",
    required: ["op", "path"],
    properties: {
      op: { type: "string", enum: ["add", "remove", "replace", "move", "copy", "test"] },
      path: text,
      from: text,
      value: {},
    },
  },
};
