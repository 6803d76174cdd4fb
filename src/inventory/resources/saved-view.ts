import { prose, text } from "../model/field.ts";
import {
  commonFields,
  deletionFields,
  ownerFields,
  permissionsField,
  publicField,
  type Resource,
} from "../model/resource.ts";

/** Parameters that say how an answer is written, or to which page it belongs: no part of a view. */
const NOT_KEPT = new Set(["format", "page", "explain", "as_of"]);

/**
 * A view is seen by nobody but its owner until it is shared, with groups or users, as any record is.
 * @param lists segments of the lists that there can be views of
 */
export const savedView = (lists: readonly string[]): Resource => ({
  name: "saved_view",
  segment: "views",
  model: "core.savedview",
  summary: "Lists to see again: what to filter by, in which order, with which columns.",
  table: "saved_view",
  key: "name",
  shownAs: "id",
  privateToOwner: true,
  nameFields: ["name"],
  descriptionFields: ["description"],
  defaultOrder: ["list", "name"],
  fields: {
    ...commonFields(),
    name: text("Name of the view.", { write: "required", blank: false, folded: "name_fold" }),
    description: prose("What it shows."),
    list: text("Segment of the list that it is a view of.", {
      write: "required",
      blank: false,
      choices: lists,
    }),
    query: prose("Parameters of the list, as they stand in an address: filters, `ordering`, `fields`."),
    public: publicField({ shown: "always" }),
    permissions: permissionsField({ shown: "extra" }),
    ...ownerFields({ shown: "always" }),
    ...deletionFields(),
  },
  rules(record) {
    const names = [...new URLSearchParams(String(record.query)).keys()];
    const wrong = names.find((name) => NOT_KEPT.has(name));
    return wrong === undefined ? {} : { query: `${wrong} is no part of a view.` };
  },
});
