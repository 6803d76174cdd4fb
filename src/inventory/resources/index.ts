import { fieldAt, type Resource, type Resources, rowNumber } from "../model/resource.ts";
import { address } from "./address.ts";
import { annotationType } from "./annotation-type.ts";
import { assay } from "./assay.ts";
import { category } from "./category.ts";
import { consumable } from "./consumable.ts";
import { customPropertyType } from "./custom-property-type.ts";
import { equipment } from "./equipment.ts";
import { experiment } from "./experiment.ts";
import { fieldMeta } from "./field-meta.ts";
import { group } from "./group.ts";
import { location } from "./location.ts";
import { annotation } from "./annotation.ts";
import { attachment } from "./attachment.ts";
import { grant } from "./grant.ts";
import { membership } from "./membership.ts";
import { note } from "./note.ts";
import { place } from "./place.ts";
import { project } from "./project.ts";
import { savedView } from "./saved-view.ts";
import { specimen } from "./specimen.ts";
import { stocktake } from "./stocktake.ts";
import { term } from "./term.ts";
import { user } from "./user.ts";

/** A resource with an address of its own. */
export type RoutedResource = Resource & { segment: string };

const LABORATORY: readonly Resource[] = [
  location,
  place,
  annotationType,
  customPropertyType,
  equipment,
  address,
  fieldMeta,
  category,
  term,
  project,
  experiment,
  assay,
  consumable,
  specimen,
  stocktake,
];

const ALL: readonly Resource[] = [
  ...LABORATORY,
  savedView(LABORATORY.flatMap(({ segment }) => segment ?? [])),
  user,
  group,
];

/** Every resource by name, those that are only referred to among them. */
export const DECLARED: Resources = new Map(ALL.map((resource) => [resource.name, resource]));

/** The resources that have addresses, in the order of the reference. */
export const RESOURCES: readonly RoutedResource[] = ALL.filter(
  (resource): resource is RoutedResource => resource.segment !== null,
);

/** Accounts and groups, which have rules of their own for writing. */
export const PEOPLE = { user: { ...user, segment: "users" }, group: { ...group, segment: "groups" } };

/** What belongs to records and groups. It has a history, but no lists of its own. */
export const SUB_RESOURCES = { annotation, note, attachment, grant, membership };

const WORD = /^[a-z][a-z_]*$/;

/** What is wrong with the declarations, taken together; nothing, a test holds. */
export function validateDeclarations(resources: Resources): string[] {
  const found: string[] = [];
  for (const resource of resources.values()) {
    const say = (text: string) => found.push(`${resource.name}: ${text}`);
    const columns = Object.values(resource.where ?? {});
    // These words stand in SQL as they are.
    for (const word of [resource.name, resource.table, ...Object.keys(resource.where ?? {}), ...columns])
      if (!WORD.test(word)) say(`${word} is no plain word`);
    for (const [name, field] of Object.entries(resource.fields)) {
      for (const word of [name, field.column, field.folded, field.trigrams])
        if (word !== undefined && !WORD.test(word)) say(`${word} is no plain word`);
      if (name.includes("__")) say(`${name} has two underscores`);
      if (field.kind === "reference" && !resources.has(field.to ?? "")) say(`${name} refers to nothing`);
      if (field.kind === "computed" && (!field.compute || !field.shape)) say(`${name} is not computed`);
      for (const from of field.from ?? [])
        if (!fieldAt(resources, resource, [from])) say(`${name} is made from ${from}`);
    }
    for (const path of [
      resource.key,
      ...resource.nameFields,
      ...resource.descriptionFields,
      ...resource.defaultOrder,
    ])
      if (!fieldAt(resources, resource, path.split("__"))) say(`${path} is no field`);
    if (resource.fields.rid?.column !== rowNumber().column) say("has no row number");
    if (!resource.fields.id) say("has no id");
  }
  return found;
}
