import { Problem } from "../../problem.ts";
import { ALIVE, and, compare, type Condition, or } from "../model/condition.ts";
import { json, type Json, KINDS, reference, Shape, isObject, type JsonObject } from "../model/field.ts";
import { fieldProblem } from "../model/parse-body.ts";
import { candidate } from "../model/annotation-type.ts";
import type { Row } from "../model/operator.ts";
import { selectVisible } from "../model/plan.ts";
import type { ReadContext } from "../model/resource.ts";
import type { StoredRecord } from "../model/stored-record.ts";
import { checkValue, showValue, type ValueType } from "./annotation-value.ts";
import { subResource, type SubResourceContext } from "./sub-resource.ts";

/** Its type is an annotation type or a custom property type; both are in the table `field_type`. */
export const annotation = subResource({
  name: "annotation",
  segment: "annotations",
  summary: "Values that describe records.",
  table: "annotation",
  nameFields: ["annotation_type__name"],
  searchFields: ["annotation_type__name", "value"],
  fields: {
    annotation_type: reference("annotation_type", "Type of the value.", { nullable: false }),
    value: json("The value.", { shape: Shape.Unknown() }),
  },
  docs: {
    list: "List annotations",
    add: "Add an annotation",
    body: "The type determines the form of the value.",
  },
  members: {
    name: nullableText("Name of the type; null where the caller may not view it."),
    value: {
      schema: Shape.Unknown({ examples: ["L2026-17"] }),
      doc: "The value; by default the default value of the annotation type.",
      write: "optional",
    },
    annotation_type_id: {
      schema: Shape.Unknown({ examples: ["lot_number"] }),
      doc: "An annotation type or custom property type, by id or name.",
      write: "required",
      fixed: true,
    },
    type: nullableText("Kind of value; null where the caller may not view the type."),
  },
  parse(body, context, before) {
    const type = before ? storedType(before, context) : findType(body, context);
    const { actor } = context;
    if (type.readonly === 1 && !actor.superuser)
      throw invalid(before ? "value" : "annotation_type_id", "Values of this type are read-only.");
    const given = body.value ?? (type.has_default === 1 ? type.default_value : null);
    const checked = checkValue(valueType(type), given, context);
    if ("error" in checked) throw invalid("value", checked.error);
    return { annotation_type: type.rid, value: JSON.stringify(checked.value) };
  },
  print({ annotation_type, value }, stored, context) {
    const [type] = findTypes(compare(["rid"], "==", stored.annotation_type), context);
    return { name: type?.name ?? null, value, annotation_type_id: annotation_type, type: type?.type ?? null };
  },
  printValue: (name, value, context) => (name === "value" ? showValue(value, context) : value),
  checkRestore(_before, after, context) {
    if (storedType(after, context).readonly === 1 && !context.actor.superuser)
      throw new Problem("forbidden", "Values of this type are read-only.");
  },
  verify(record, query) {
    const text =
      // Checked in this order, because a type may have many annotations.
      "SELECT count(*) AS total FROM annotation AS a CROSS JOIN field_type AS f ON f.rid = a.annotation_type" +
      " WHERE object_kind = ? AND object_rid = ? AND +annotation_type = ? AND f.multiple = 0 AND a.deleted = 0";
    const args = [record.object_kind, record.object_rid, record.annotation_type];
    if (record.deleted === 0 && Number(query.get({ text, args })?.total) > 1)
      throw new Problem("conflict", "The record now has another value of this type.");
  },
});

function nullableText(doc: string) {
  const schema = Shape.Union([Shape.String(), Shape.Null()]);
  return { schema, doc, write: "never" } as const;
}

const invalid = (field: string, text: string): Problem => fieldProblem(new Map([[field, [text]]]));

const storedType = ({ annotation_type }: StoredRecord, { query }: ReadContext): Row =>
  query.get({ text: "SELECT * FROM field_type WHERE rid = ?", args: [annotation_type] })!;

/** Candidates for a name that an error lists. */
const MAX_CANDIDATES = 10;

/** Some of the types that the actor may view and for which the condition holds, annotation types first. */
const findTypes = (condition: Condition, { query, resources, actor }: ReadContext): Row[] =>
  ["annotation_type", "custom_property_type"].flatMap((name) => {
    const tail = ` ORDER BY t.id LIMIT ${MAX_CANDIDATES}`;
    return query.all(selectVisible({ resources, actor }, resources.get(name)!, "t.*", condition, tail));
  });

/** The type that the body of a new annotation names. @throws Problem invalid_request */
function findType(body: JsonObject, context: SubResourceContext): Row {
  const wrong = (text: string) => invalid("annotation_type_id", text);
  const given = body.annotation_type_id ?? body.annotation_type ?? null;
  const word = isObject(given) ? (given.id ?? given.name) : given;
  if (typeof word !== "string" || word.trim() === "") throw wrong("This field is required.");
  const id = KINDS.uuid.parse(word);
  const named = id === undefined ? compare(["name"], "==", word.trim()) : compare(["id"], "==", id);
  const { resource, rid } = context.parent;
  const applies = (model: string): Condition => compare(["model_name"], "==", model);
  const [type, ...others] = findTypes(and(named, or(applies(""), applies(resource.model)), ALIVE), context);
  const [foreign] = type ? [] : findTypes(and(named, ALIVE), context);
  if (foreign) throw wrong(`This type is for records of ${String(foreign.model_name)}.`);
  if (!type) throw wrong("No such annotation type.");
  if (others.length > 0)
    throw wrong(
      `Several types have this name. Give the id of one: ${[type, ...others].map((row) => candidate(row as Parameters<typeof candidate>[0])).join("; ")}.`,
    );
  const existing = context.query.get({
    text: "SELECT 1 FROM annotation WHERE object_kind = ? AND object_rid = ? AND annotation_type = ? AND deleted = 0",
    args: [resource.name, rid, type.rid],
  });
  if (existing && type.multiple !== 1)
    throw wrong("The record already has a value of this type. Change that one.");
  return type;
}

const valueType = (type: Row): ValueType => ({
  type: String(type.type),
  multiple: type.multiple === 1,
  validations: JSON.parse(String(type.validations)) as ValueType["validations"],
  value_choices: type.value_choices === null ? null : (JSON.parse(String(type.value_choices)) as Json[][]),
  cv_category: type.cv_category as number | null,
  unit_category: type.unit_category as number | null,
  choices_target: String(type.choices_target),
});
