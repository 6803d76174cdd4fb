import { colToLetter, type DataValidation, writeXlsx } from "hucre/xlsx";
import { PATH, writableFields } from "./import-mapping.ts";
import { type Actor, visible } from "../model/access.ts";
import { and, compare } from "../model/condition.ts";
import { plan } from "../model/plan.ts";
import { columnOf, type Resource, targetOf } from "../model/resource.ts";
import { compile, rows } from "../model/sql.ts";
import type { Store } from "../records/store.ts";

/** Names in one drop-down. */
const CHOICES = 5000;
/** Rows of a template that have drop-downs. */
const ROWS = 10_000;

/**
 * An XLSX file to fill in for an import: a line of names, drop-downs with the choices, flags and the names of the
 * records that the actor may view, and a sheet that says what the columns mean. Ids may be typed in place of names.
 */
export function importTemplate(store: Store, resource: Resource, actor: Actor): Promise<Uint8Array> {
  const { statements, resources } = store;
  const fields = writableFields(resource);
  const own = resource.name === "location" ? ["id", PATH] : resource.fields.id.kind === "uuid" ? ["id"] : [];
  const names = [...own, ...fields.map(([name]) => name)];

  const namesOf = (far: Resource): string[] => {
    const alive = "deleted" in far.fields ? compare(["deleted"], "==", 0) : and();
    const where = compile(and(alive, visible(far, actor)), plan(resources, far, actor));
    const key = `t.${columnOf(far, far.key)}`;
    const text = `SELECT DISTINCT ${key} AS name FROM ${far.table} AS t WHERE ${rows(far)}${where.text} ORDER BY ${key} LIMIT ?`;
    return statements.all({ text, args: [...where.args, CHOICES] }).map(({ name }) => String(name));
  };

  const lists = fields.flatMap(([name, field]): { name: string; choices: string[]; strict: boolean }[] => {
    if (field.kind === "flag") return [{ name, choices: ["true", "false"], strict: true }];
    if (field.choices) return [{ name, choices: [...field.choices], strict: true }];
    if (field.kind === "reference")
      return [{ name, choices: namesOf(targetOf(resources, field)), strict: false }];
    return [];
  });
  const dataValidations = lists.flatMap(({ name, choices, strict }, i): DataValidation[] => {
    if (choices.length === 0) return [];
    const [at, from] = [colToLetter(names.indexOf(name)), colToLetter(i)];
    return [
      {
        type: "list",
        formula1: `choices!$${from}$2:$${from}$${choices.length + 1}`,
        range: `${at}2:${at}${ROWS + 1}`,
        allowBlank: true,
        showErrorMessage: true,
        errorStyle: strict ? "stop" : "warning",
        errorTitle: name,
        errorMessage: strict ? "Choose one of the list." : "It is none of the names; an id may be.",
      },
    ];
  });
  const tallest = Math.max(0, ...lists.map(({ choices }) => choices.length));
  return writeXlsx({
    sheets: [
      {
        name: resource.name,
        rows: [names],
        dataValidations,
        freezePane: { rows: 1 },
        columns: names.map((name) => ({ width: Math.max(12, name.length + 2) })),
      },
      {
        name: "choices",
        rows: [
          lists.map(({ name }) => name),
          ...Array.from({ length: tallest }, (_, row) => lists.map(({ choices }) => choices[row] ?? null)),
        ],
      },
      {
        name: "columns",
        rows: [
          ["column", "required", "meaning"],
          ...own.map((name) => [
            name,
            false,
            name === PATH
              ? "The way to it from the outermost location: A / 2 / Room 5 / Freezer 1 / Shelf 3. What is missing on the way is made."
              : "Of a record that is there; empty for a new one, or one found by its name.",
          ]),
          ...fields.map(([name, field]) => [name, field.write === "required", field.doc]),
        ],
      },
    ],
  });
}
