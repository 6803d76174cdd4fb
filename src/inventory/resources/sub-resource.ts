import { flag, integer, json, prose, reference, text } from "../model/field.ts";
import { commonFields, deletionFields, type Resource } from "../model/resource.ts";

/**
 * What belongs to records of any resource, and memberships, which belong to groups. Parts are stored, versioned and
 * noted as records are; they are told, written and addressed with the record that they belong to.
 */
interface Described {
  name: string;
  segment: string;
  summary: string;
  table: string;
  fields: Resource["fields"];
}

const part = ({ name, segment, summary, table, fields }: Described): Resource => ({
  name,
  segment,
  model: `core.${name}`,
  summary,
  table,
  key: "id",
  shownAs: "id",
  nameFields: [],
  descriptionFields: [],
  defaultOrder: [],
  fields: { ...commonFields(), ...fields, ...deletionFields() },
  parent: ({ object_kind, object_rid }) => ({ kind: String(object_kind), rid: Number(object_rid) }),
});

/** The record that it belongs to. */
const object = {
  object_kind: text("Resource of the record", { shown: "internal" }),
  object_rid: integer("Row of the record", { shown: "internal" }),
};

export const annotation = part({
  name: "annotation",
  segment: "annotations",
  summary: "Values that are said of records.",
  table: "annotation",
  fields: {
    ...object,
    annotation_type: reference("annotation_type", "What kind of value it is.", { nullable: false }),
    value: json("The value.", {}),
  },
});

export const note = part({
  name: "note",
  segment: "notes",
  summary: "Free words on records.",
  table: "note",
  fields: { ...object, content: prose("What it says.") },
});

export const attachment = part({
  name: "attachment",
  segment: "attachments",
  summary: "Files of records.",
  table: "attachment",
  fields: {
    ...object,
    name: text("Name of the file."),
    media_type: text("What kind of file it is."),
    size: integer("Bytes."),
    sha256: text("SHA-256 of its bytes."),
  },
});

export const grant = part({
  name: "grant",
  segment: "permissions",
  summary: "Rights that are given on records.",
  table: "object_permission",
  fields: {
    ...object,
    user: reference("user", "The account that has them.", { column: "user_rid" }),
    group: reference("group", "The group that has them.", { column: "group_rid" }),
    view: flag("To view.", true, { column: "can_view" }),
    change: flag("To change.", false, { column: "can_change" }),
    delete: flag("To delete.", false, { column: "can_delete" }),
  },
});

export const membership: Resource = {
  ...part({
    name: "membership",
    segment: "members",
    summary: "Who is a member of a group.",
    table: "membership_record",
    fields: {
      user: reference("user", "The member.", { column: "user_rid", nullable: false }),
      group: reference("group", "The group.", { column: "group_rid", nullable: false }),
    },
  }),
  parent: ({ group }) => ({ kind: "group", rid: Number(group) }),
};
