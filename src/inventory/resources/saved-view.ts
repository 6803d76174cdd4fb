import { prose, text } from "../model/field.ts";
import { nameField, ownedResource, type Resource } from "../model/resource.ts";
import { listTitle } from "./lists.ts";

/** Parameters that say how an answer is written, or to which page it belongs: no part of a view. */
const DROPPED_PARAMETERS = new Set(["format", "page", "explain", "as_of"]);

/** Parameters of a layout of labels. */
const LAYOUT = new Set(["printer", "sheet", "symbol", "dpi", "lines"]);

/** Fields by the headers of a sheet; null leaves a column out. */
export type Mapping = ReadonlyMap<string, string | null>;

/** The mapping of a JSON object; undefined for any other text. */
export function readMapping(text: string | null): Mapping | undefined {
  try {
    const pairs = Object.entries(JSON.parse(text ?? "") as Record<string, string | null>);
    const isMapping = pairs.every(([, value]) => value === null || typeof value === "string");
    return isMapping && text!.trim().startsWith("{") ? new Map(pairs) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Only its owner may view a saved view until it is shared with users or groups.
 * @param lists segments of the lists that there can be views of
 */
export const savedView = (lists: readonly string[]): Resource =>
  ownedResource({
    name: "saved_view",
    segment: "views",
    model: "core.savedview",
    summary: "Saved views of lists: filters, order and columns.",
    table: "saved_view",
    access: { isPrivate: true },
    defaultOrder: ["list", "name"],
    fields: {
      name: nameField("Name of the view.", { example: "My shelves" }),
      description: prose("Description."),
      list: text("Segment of the list.", {
        write: "required",
        blank: false,
        choices: lists,
        example: "locations",
        form: {
          hint: "The list that it shows.",
          words: Object.fromEntries(lists.map((list) => [list, [listTitle(list)]])),
        },
      }),
      kind: text("`list`; `import`: the mapping of sheets with the same headers; `labels`: a layout.", {
        choices: ["list", "import", "labels"],
        initial: "list",
        blank: false,
        form: {
          omitted: true,
          words: {
            list: ["Filters and columns"],
            import: ["Mapping of an import"],
            labels: ["Layout of labels"],
          },
        },
      }),
      query: prose(
        "Query string of the list; of its imports: `mapping` with all headers, `dates`, `unit`; or of labels: `printer` (`pdf`, `zpl`), `sheet`, `symbol`, `dpi`, `lines`.",
        {
          // Save view stores the part after ? in the address of the list.
          form: { omitted: true },
        },
      ),
    },
    rules(record) {
      const names = [...new URLSearchParams(String(record.query)).keys()];
      const wrong = names.find((name) => DROPPED_PARAMETERS.has(name));
      if (wrong !== undefined) return { query: `${wrong} cannot be part of a view.` };
      const unknown = record.kind === "labels" && names.find((name) => !LAYOUT.has(name));
      if (unknown)
        return { query: `${unknown} is not part of a layout. Choices: ${[...LAYOUT].join(", ")}.` };
      const hasMapping = readMapping(new URLSearchParams(String(record.query)).get("mapping"));
      return record.kind === "import" && !hasMapping
        ? { query: 'Expected mapping={"Header": "field", "Other": null}.' }
        : {};
    },
  });
