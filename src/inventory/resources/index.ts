import type { Field } from "../model/field.ts";
import { fieldAt, type Resource, type Resources, rowNumber } from "../model/resource.ts";
import { address } from "./address.ts";
import { archive } from "./archive.ts";
import { assay } from "./assay.ts";
import { category } from "./category.ts";
import { codePattern } from "./code-pattern.ts";
import { consumable } from "./consumable.ts";
import { datafileCopy } from "./datafile-copy.ts";
import { datafile } from "./datafile.ts";
import { datasetCollection } from "./dataset-collection.ts";
import { dataset } from "./dataset.ts";
import { dropbox } from "./dropbox.ts";
import { equipment } from "./equipment.ts";
import { experiment } from "./experiment.ts";
import { annotationType, customPropertyType } from "./field-type.ts";
import { fieldMeta } from "./field-meta.ts";
import { group } from "./group.ts";
import { instrumentModel } from "./instrument-model.ts";
import { instrumentRun } from "./instrument-run.ts";
import { location } from "./location.ts";
import { annotation } from "./annotation.ts";
import { annotationItem } from "./annotation-item.ts";
import { attachment } from "./attachment.ts";
import { grant } from "./grant.ts";
import { membership } from "./membership.ts";
import { note } from "./note.ts";
import { order } from "./order.ts";
import { place } from "./place.ts";
import { product } from "./product.ts";
import { project } from "./project.ts";
import { protocol } from "./protocol.ts";
import { sample } from "./sample.ts";
import { savedView } from "./saved-view.ts";
import { specimen } from "./specimen.ts";
import { stocktake } from "./stocktake.ts";
import { storageVolume } from "./storage-volume.ts";
import { study } from "./study.ts";
import { term } from "./term.ts";
import { user } from "./user.ts";
import { workflow } from "./workflow.ts";

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
  product,
  order,
  stocktake,
  sample,
  study,
  protocol,
  workflow,
  instrumentModel,
  instrumentRun,
  dataset,
  datafile,
  datafileCopy,
  datasetCollection,
  dropbox,
  archive,
  storageVolume,
];

const ALL: readonly Resource[] = [
  ...LABORATORY,
  codePattern(LABORATORY.filter(({ fields }) => "barcode" in fields)),
  savedView(LABORATORY.flatMap(({ segment }) => segment ?? [])),
  user,
  group,
];

/** Every resource by name, including resources without lists that others refer to. */
export const DECLARED: Resources = Object.assign(new Map(ALL.map((resource) => [resource.name, resource])), {
  annotationValue: annotationItem(ALL),
});

/** The resources that have addresses, in the order of the reference. */
export const RESOURCES: readonly RoutedResource[] = ALL.filter(
  (resource): resource is RoutedResource => resource.segment !== null,
);

/** Accounts and groups, which have rules of their own for writing. */
export const PEOPLE = { user: { ...user, segment: "users" }, group: { ...group, segment: "groups" } };

/** Resources whose records belong to records and groups. They have a history, but no lists of their own. */
export const SUB_RESOURCES = { annotation, note, attachment, grant, membership };

const WORD = /^[a-z][a-z0-9_]*$/;

/** Errors in the declarations, taken together. A test holds that there are none. */
export function validateDeclarations(resources: Resources): string[] {
  return [...resources.values()].flatMap((resource) => {
    const { name, table, where = {}, fields } = resource;
    // These words become part of SQL.
    const words = [name, table, ...Object.entries(where).flat()];
    const paths = [
      resource.key,
      ...resource.nameFields,
      ...resource.descriptionFields,
      ...resource.defaultOrder,
    ];
    return [
      ...words.filter((word) => !WORD.test(word)).map((word) => `${word} is not a plain word`),
      ...Object.entries(fields).flatMap(([name, field]) => fieldErrors(resources, resource, name, field)),
      ...paths
        .filter((path) => !fieldAt(resources, resource, path.split("__")))
        .map((path) => `${path} is not a field`),
      ...(fields.rid?.column === rowNumber().column ? [] : ["has no row number"]),
      ...(fields.id ? [] : ["has no id"]),
    ].map((error) => `${name}: ${error}`);
  });
}

/** Fields that the form of a field names and that do not exist. A field may stand beside one that only other lists have. */
const formErrors = ({ fields }: Resource, name: string, { form = {} }: Field): string[] =>
  [form.suffix, form.when?.field, form.derivedFrom]
    .filter((other) => other !== undefined && !(other in fields))
    .map((other) => `the form of ${name} names the unknown field ${other}`);

function fieldErrors(resources: Resources, resource: Resource, name: string, field: Field): string[] {
  const words = [name, field.column, field.folded].filter((word) => word !== undefined);
  const missing = (field.from ?? []).filter((from) => !fieldAt(resources, resource, [from]));
  return [
    ...words.filter((word) => !WORD.test(word)).map((word) => `${word} is not a plain word`),
    ...(name.includes("__") ? [`${name} has two underscores`] : []),
    ...(field.kind === "reference" && !resources.has(field.to ?? "") ? [`${name} refers to nothing`] : []),
    ...(field.kind === "computed" && (!field.compute || !field.shape) ? [`${name} is not computed`] : []),
    ...missing.map((from) => `${name} is computed from the unknown field ${from}`),
    ...formErrors(resource, name, field),
  ];
}
