import { prose, text } from "../model/field.ts";
import { nameField, ownedResource, type Resource } from "../model/resource.ts";
import { listTitle } from "./lists.ts";

/** Parameters that say how an answer is written, or to which page it belongs: no part of a view. */
const DROPPED_PARAMETERS = new Set(["format", "page", "explain", "as_of"]);

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
      query: prose("Query string of the list: filters, `ordering`, `fields`.", {
        // Save view stores the part after ? in the address of the list.
        form: { omitted: true },
      }),
    },
    rules(record) {
      const names = [...new URLSearchParams(String(record.query)).keys()];
      const wrong = names.find((name) => DROPPED_PARAMETERS.has(name));
      return wrong === undefined ? {} : { query: `${wrong} cannot be part of a view.` };
    },
  });
