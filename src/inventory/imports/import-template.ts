import type { DataValidation } from "hucre/xlsx";
import type { Actor } from "../model/access.ts";
import { annotationName, withAnnotations } from "../model/annotation-type.ts";
import { type AnnotationType, columnName, type Resource, findTarget } from "../model/resource.ts";
import { ALIVE, and, compare, type Condition } from "../model/condition.ts";
import type { Field, Json } from "../model/field.ts";
import { selectVisible } from "../model/plan.ts";
import type { Store } from "../records/store.ts";
import { PATH, writableFields } from "./import-mapping.ts";

const MAX_CHOICES = 5000;
/** Rows with drop-down lists. */
const ROWS = 10_000;

const OWN_COLUMNS: Record<string, string> = {
  id: "Id of the record to update. Leave it empty to create a record.",
  [PATH]:
    "Path from the outermost location: A / 2 / Room 5 / Freezer 1 / Shelf 3. Missing locations are created.",
};

interface List {
  name: string;
  choices: string[];
  /** True if other values are rejected. */
  strict: boolean;
}

/**
 * A spreadsheet to fill in for an import: a header, drop-down lists of choices and of the names of records that the
 * actor may view, and a sheet that explains the columns. Instead of names, ids can be entered.
 */
export async function importTemplate(store: Store, resource: Resource, actor: Actor): Promise<Uint8Array> {
  const { colToLetter, writeXlsx } = await import("hucre/xlsx");
  const fields = writableFields(resource);
  const own = resource.name === "location" ? ["id", PATH] : ["id"];
  const annotations = annotationColumns(store, resource, actor);
  const names = [...own, ...fields.map(([name]) => name), ...annotations.map(([name]) => name)];
  const fieldLists = fields.flatMap(([name, field]): List[] => {
    if (field.kind === "reference") return [{ name, choices: listNames(store, field, actor), strict: false }];
    const choices = field.kind === "flag" ? ["true", "false"] : field.choices;
    return choices ? [{ name, choices: [...choices], strict: true }] : [];
  });
  const lists = [
    ...fieldLists,
    ...annotations.flatMap(([name, type]) => listChoices(store, name, type, actor)),
  ];
  const longest = Math.max(0, ...lists.map(({ choices }) => choices.length));
  const header = { rows: [names], freezePane: { rows: 1 } };
  const columns = names.map((name) => ({ width: Math.max(12, name.length + 2) }));
  const dataValidations = lists.flatMap((list, i) =>
    makeValidation(list, colToLetter(names.indexOf(list.name)), colToLetter(i)),
  );
  const choices = [
    lists.map(({ name }) => name),
    ...Array.from({ length: longest }, (_, row) => lists.map((list) => list.choices[row] ?? null)),
  ];
  const meanings = [
    ["column", "required", "meaning"],
    ...own.map((name) => [name, false, OWN_COLUMNS[name]]),
    ...fields.map(([name, { write, doc }]) => [name, write === "required", doc]),
    ...annotations.map(([name, type]) => [name, false, describeType(type)]),
  ];
  return writeXlsx({
    sheets: [
      { name: resource.name, ...header, columns, dataValidations },
      { name: "choices", rows: choices },
      { name: "columns", rows: meanings },
    ],
  });
}

/** Annotation types in use in this list, and types made for it. */
function annotationColumns(store: Store, resource: Resource, actor: Actor): [string, AnnotationType][] {
  const named = withAnnotations(store.resources, resource, actor);
  return (named.annotations?.offered() ?? [])
    .filter(({ used, model_name, readonly }) => (used || model_name !== "") && !readonly)
    .map((type) => [annotationName(type), type]);
}

const describeType = ({ label, help_text, type, multiple }: AnnotationType): string =>
  [
    `${label}.`,
    help_text,
    type === "NUMBERUNIT" && "A number and a unit: 5 milligram.",
    multiple && 'Several values: ["one", "two"].',
  ]
    .filter(Boolean)
    .join(" ");

/** The choices of an annotation type: fixed ones, or the terms of its vocabulary. */
function listChoices(store: Store, name: string, type: AnnotationType, actor: Actor): List[] {
  if (type.multiple) return [];
  if (type.type === "BOOLEAN") return [{ name, choices: ["true", "false"], strict: true }];
  if (type.value_choices !== null)
    return [
      {
        name,
        choices: (JSON.parse(type.value_choices) as Json[][]).map(([value]) => String(value)),
        strict: true,
      },
    ];
  if (type.type !== "VOCABULARYTERM" || type.cv_category === null) return [];
  const { term } = store.resources.annotationValue!.fields;
  const inCategory = compare(["category", "id"], "==", type.cv_category);
  return [{ name, choices: listNames(store, term, actor, inCategory), strict: false }];
}

function listNames(
  { statements, resources }: Store,
  field: Field,
  actor: Actor,
  restriction: Condition = and(),
): string[] {
  const far = findTarget(resources, field);
  const key = `t.${columnName(far, far.key)}`;
  const condition = and("deleted" in far.fields ? ALIVE : and(), restriction);
  const tail = ` ORDER BY ${key} LIMIT ${MAX_CHOICES}`;
  const sql = selectVisible({ resources, actor }, far, `DISTINCT ${key} AS name`, condition, tail);
  return statements.all(sql).map(({ name }) => String(name));
}

/** The drop-down list of a column; its choices are in the column `source` of the sheet "choices". */
function makeValidation({ name, choices, strict }: List, column: string, source: string): DataValidation[] {
  if (choices.length === 0) return [];
  const range = `${column}2:${column}${ROWS + 1}`;
  const formula1 = `choices!$${source}$2:$${source}$${choices.length + 1}`;
  const errorMessage = strict
    ? "Choose a value from the list."
    : "This name is not in the list. An id is allowed.";
  const error = { errorTitle: name, errorMessage, errorStyle: strict ? "stop" : "warning" } as const;
  return [{ type: "list", formula1, range, allowBlank: true, showErrorMessage: true, ...error }];
}
