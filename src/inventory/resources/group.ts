import { computed, flag, integer, type Json, Shape, text, uuid } from "../model/field.ts";
import { DETAILS_FORM, SHOWN_IN_HEAD, type Resource, rowNumber } from "../model/resource.ts";

/** All signed-in users may view groups; administrators write them. */
export const group: Resource = {
  name: "group",
  segment: null,
  model: "core.group",
  summary: "User groups, which own records. Addresses accept the name as well as the id.",
  table: "user_group",
  key: "name",
  shownAs: "key",
  nameFields: ["name"],
  descriptionFields: ["description"],
  defaultOrder: ["name"],
  fields: {
    rid: rowNumber(),
    id: uuid("Identifier of the group.", DETAILS_FORM),
    name: text("Name of the group; must not contain commas.", {
      example: "Microscopy",
      write: "required",
      blank: false,
      unique: true,
      maxLength: 150,
      pattern: { expression: /^[^,]*$/, rule: "a name without commas" },
    }),
    description: text("Description.", SHOWN_IN_HEAD),
    members_may: text(
      "What members may do with each other's records: view; use (consume, thaw, take out, put back, move stock); change.",
      { choices: ["view", "use", "change"], blank: false, write: "optional" },
    ),
    members_order: flag("Whether members may mark orders as ordered.", false),
    due_back_days: integer("Days after which stock of the group that was taken out is due back: 1 to 365.", {
      initial: 1,
      write: "optional",
    }),
    members: computed("Members. Bodies accept usernames, ids, or objects with either.", {
      shown: "extra",
      write: "optional",
      select:
        "(SELECT json_group_array(json_object('id', u.id, 'username', u.username, 'full_name', u.full_name)" +
        " ORDER BY u.username) FROM membership AS m JOIN user_account AS u ON u.rid = m.user_rid WHERE m.group_rid = t.rid)",
      shape: Shape.Array(
        Shape.Object({ id: Shape.String(), username: Shape.String(), full_name: Shape.String() }),
      ),
      compute: ({ members }) => JSON.parse(String(members)) as Json,
    }),
  },
};
