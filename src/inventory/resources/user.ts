import { compare } from "../model/condition.ts";
import { computed, type Field, type Json, printInstant, Shape, text, uuid } from "../model/field.ts";
import { DETAILS_FORM, type Resource, rowNumber } from "../model/resource.ts";

const named = Shape.Object({ id: Shape.String(), name: Shape.String() });

const computedField = (doc: string, options: Partial<Field>): Field => computed(doc, options);
const flagField = (name: string, doc: string): Field =>
  computedField(doc, {
    write: "optional",
    select: `t.${name}`,
    shape: Shape.Boolean(),
    compute: (row) => row[name] === 1,
  });

/**
 * All signed-in users may view accounts, but only the user and administrators see the e-mail address. Filters, orderings
 * and spans reach only id, username and full name: computed fields cannot be reached over a reference.
 */
export const user: Resource = {
  name: "user",
  segment: null,
  model: "core.user",
  summary: "User accounts. Addresses accept the username as well as the id.",
  table: "user_account",
  key: "username",
  shownAs: "key",
  nameFields: ["username", "full_name"],
  descriptionFields: [],
  defaultOrder: ["username"],
  access: {
    changeable: (user) => compare(["rid"], "==", user),
    isHidden: (field, actor) => field === "full_name" && actor.user === null,
  },
  fields: {
    rid: rowNumber(),
    id: uuid("Identifier of the account.", DETAILS_FORM),
    username: text("Username; cannot be changed.", {
      example: "carol",
      write: "required",
      blank: false,
      unique: true,
      maxLength: 150,
    }),
    full_name: text("Full name; only visible to signed-in users."),
    email: computedField("E-mail address; only visible to the user and to administrators.", {
      write: "optional",
      select: "t.email",
      needsRights: true,
      shape: Shape.String(),
      compute: ({ email }, { rights }) => (rights.change ? String(email) : ""),
    }),
    groups: computedField("Groups of the user. Bodies accept names, ids, or objects with either.", {
      write: "optional",
      select:
        "(SELECT json_group_array(json_object('id', g.id, 'name', g.name) ORDER BY g.name) FROM membership AS m" +
        " JOIN user_group AS g ON g.rid = m.group_rid WHERE m.user_rid = t.rid)",
      shape: Shape.Array(named),
      compute: ({ groups }) => JSON.parse(String(groups)) as Json,
    }),
    primary_group: computedField("Group that owns the records that the user creates.", {
      write: "optional",
      select:
        "(SELECT json_object('id', g.id, 'name', g.name) FROM user_group AS g WHERE g.rid = t.primary_group)",
      shape: named,
      compute: ({ primary_group }) => JSON.parse(String(primary_group)) as Json,
    }),
    is_active: flagField("is_active", "Whether the account is enabled."),
    is_superuser: flagField("is_superuser", "Whether the user is an administrator, with all rights."),
    is_staff: flagField("is_staff", "Whether the user is staff; grants no rights."),
    date_joined: computedField("When the account was created.", {
      select: "t.joined",
      shape: Shape.String({ format: "date-time" }),
      compute: ({ date_joined }) => printInstant(Number(date_joined)),
    }),
  },
};
