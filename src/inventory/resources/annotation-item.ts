import { flag, day, integer, json, number, reference, Shape, text, uuid } from "../model/field.ts";
import { type Resource, rowNumber } from "../model/resource.ts";
import { showValue } from "./annotation-value.ts";

/**
 * The values of annotations, one row for each item of a list, which the database keeps in step with the annotations.
 * Each kind of value has its field; references have one for each resource that they may refer to.
 */
export const annotationItem = (resources: readonly Resource[]): Resource => ({
  name: "annotation_value",
  segment: null,
  model: "core.annotation",
  summary: "Values of annotations.",
  table: "annotation_value",
  key: "id",
  shownAs: "id",
  nameFields: [],
  descriptionFields: [],
  defaultOrder: ["id"],
  fields: {
    rid: rowNumber(),
    id: uuid("Id of the record that the value refers to.", { column: "reference" }),
    record: uuid("Id of the record that the value refers to.", { column: "reference" }),
    type: integer("Row number of the type.", { column: "annotation_type" }),
    text: text("The value.", { folded: "fold", searchable: true }),
    json: json("The value.", { column: "text", folded: "fold", searchable: true, shape: Shape.Unknown() }),
    number: number("The value, or the number of an amount.", { nullable: false }),
    day: day("The value.", { column: "number", nullable: false }),
    flag: flag("The value.", false, { column: "number" }),
    unit: reference("term", "Unit of an amount."),
    ...Object.fromEntries(
      resources
        .filter(({ fields }) => fields.id.kind === "uuid")
        .map(({ name }) => [name, reference(name, "The record.", { column: "reference" })]),
    ),
  },
  printValue: (_name, value, context) => showValue(value, context),
});
