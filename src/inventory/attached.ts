import {
  type AnnotationValues,
  type Checked,
  openAnnotationValues,
  type ValueType,
} from "./annotation-value.ts";
import type { Actor } from "./model/access.ts";
import { compare } from "./model/condition.ts";
import { type Json, KINDS, printInstant } from "./model/field.ts";
import type { Resource } from "./model/resource.ts";
import { Problem } from "../problem.ts";
import type { Store } from "./store.ts";
import type { Clock } from "../shell/clock.ts";
import { fieldProblem } from "./writing.ts";

/** What is attached to a record: annotations or notes. */
export type Attachment = "annotations" | "notes";

/**
 * Annotations and notes of records. Who may view the record may read them, who may change the record may write them:
 * the caller finds the record and asks for the rights, so that nothing is told of one that may not be seen.
 */
export interface Attached {
  list(what: Attachment, resource: Resource, rid: number, actor: Actor): Json[];
  add(what: Attachment, resource: Resource, rid: number, body: Json, actor: Actor): Json;
  change(what: Attachment, resource: Resource, rid: number, id: string, body: Json, actor: Actor): Json;
  remove(what: Attachment, resource: Resource, rid: number, id: string): void;
}

type Row = Record<string, string | number | null>;
type Members = { [key: string]: Json };

const TABLES: Record<Attachment, string> = { annotations: "annotation", notes: "note" };
const NOTE_LENGTH = 10_000;

export function openAttached(store: Store, clock: Clock): Attached {
  const { statements, reading } = store;
  const values: AnnotationValues = openAnnotationValues(statements, store.resources);
  const kinds = ["annotation_type", "custom_property_type"].map((name) => store.resources.get(name)!);

  const rowsOf = (what: Attachment, resource: Resource, rid: number, id?: string): Row[] =>
    statements.all({
      text:
        `SELECT a.*, c.username AS creator, m.username AS modifier FROM ${TABLES[what]} AS a` +
        " JOIN user_account AS c ON c.rid = a.created_by JOIN user_account AS m ON m.rid = a.modified_by" +
        ` WHERE a.object_kind = ? AND a.object_rid = ?${id === undefined ? "" : " AND a.id = ?"} ORDER BY a.rid`,
      args: [resource.name, rid, ...(id === undefined ? [] : [id])],
    });

  const print = (what: Attachment, row: Row, actor: Actor): Json => {
    const about = {
      created: printInstant(Number(row.created)),
      created_by: row.creator,
      modified: printInstant(Number(row.modified)),
      modified_by: row.modifier,
    };
    if (what === "notes") return { id: row.id, content: row.content, ...about };
    const type = statements.get({
      text: "SELECT id, name, type FROM field_type WHERE rid = ?",
      args: [row.annotation_type],
    })!;
    // What a type is called is told to those who may view it; its id is not secret.
    const seen = kinds.some((kind) => reading.find(kind, String(type.id), ANY, actor) !== undefined);
    return {
      id: row.id,
      name: seen ? type.name : null,
      value: values.show(JSON.parse(String(row.value)) as Json, actor),
      annotation_type_id: type.id,
      type: seen ? type.type : null,
      ...about,
    };
  };

  /** @throws Problem invalid_request */
  const typeFor = (resource: Resource, rid: number, body: Members, actor: Actor): Row => {
    const given = body.annotation_type_id ?? body.annotation_type ?? null;
    const word =
      given !== null && typeof given === "object" && !Array.isArray(given) ? (given.id ?? given.name) : given;
    if (typeof word !== "string" || word.trim() === "")
      throw refused("annotation_type_id", "This field is required.");
    const id = KINDS.uuid.parse(word) ?? idOfName(word, actor);
    const found = kinds
      .map((kind) => (id === undefined ? undefined : reading.find(kind, String(id), ALIVE, actor)))
      .find((candidate) => candidate !== undefined);
    if (found === undefined) throw refused("annotation_type_id", "There is no such annotation type.");
    const type = statements.get({ text: "SELECT * FROM field_type WHERE rid = ?", args: [found] })!;
    if (type.model_name !== "" && type.model_name !== resource.model)
      throw refused("annotation_type_id", `It is for records of ${String(type.model_name)}.`);
    if (type.readonly === 1 && !actor.superuser)
      throw refused("annotation_type_id", "Values of this type can only be read.");
    const there = rowsOf("annotations", resource, rid).some((row) => row.annotation_type === found);
    if (there && type.multiple !== 1)
      throw refused("annotation_type_id", "The record has a value of this type already; change that one.");
    return type;
  };

  const idOfName = (name: string, actor: Actor): string | undefined => {
    const named = statements.all({
      text: "SELECT id FROM field_type WHERE name = ? AND deleted = 0 ORDER BY kind LIMIT 100",
      args: [name.trim()],
    });
    const seen = named.filter(({ id }) =>
      kinds.some((kind) => reading.find(kind, String(id), ALIVE, actor) !== undefined),
    );
    return seen.length === 0 ? undefined : String(seen[0].id);
  };

  const valueOf = (type: Row, body: Members, actor: Actor): string => {
    const described: ValueType = {
      type: String(type.type),
      multiple: type.multiple === 1,
      validations: JSON.parse(String(type.validations)) as ValueType["validations"],
      value_choices:
        type.value_choices === null ? null : (JSON.parse(String(type.value_choices)) as Json[][]),
      cv_category: type.cv_category as number | null,
      unit_category: type.unit_category as number | null,
      choices_target: String(type.choices_target),
    };
    const given = body.value ?? (type.has_default === 1 ? type.default_value : null);
    const checked: Checked = values.check(described, given, actor);
    if ("error" in checked) throw refused("value", checked.error);
    return JSON.stringify(checked.value);
  };

  const contentOf = (body: Members): string => {
    const text = typeof body.content === "string" ? body.content.trim() : "";
    if (text === "") throw refused("content", "This field is required.");
    if (KINDS.text.parse(text) === undefined) throw refused("content", "Null characters are not allowed.");
    if (text.length > NOTE_LENGTH)
      throw refused("content", `Ensure this field has no more than ${NOTE_LENGTH} characters.`);
    return text;
  };

  const now = (): number => Math.round(clock.now() * 1000);

  return {
    list: (what, resource, rid, actor) => rowsOf(what, resource, rid).map((row) => print(what, row, actor)),
    add(what, resource, rid, body, actor) {
      const members = membersOf(body);
      const id = clock.newId();
      store.write(() => {
        const at = now();
        const own: [string, string | number | null][] = [];
        if (what === "notes") own.push(["content", contentOf(members)]);
        else {
          const type = typeFor(resource, rid, members, actor);
          own.push(["annotation_type", type.rid], ["value", valueOf(type, members, actor)]);
        }
        const columns = new Map<string, string | number | null>([
          ["id", id],
          ["object_kind", resource.name],
          ["object_rid", rid],
          ...own,
          ["created", at],
          ["modified", at],
          ["created_by", actor.user],
          ["modified_by", actor.user],
        ]);
        statements.run({
          text: `INSERT INTO ${TABLES[what]} (${[...columns.keys()].join(", ")}) VALUES (${[...columns].map(() => "?").join(", ")})`,
          args: [...columns.values()],
        });
      });
      return print(what, rowsOf(what, resource, rid, id)[0], actor);
    },
    change(what, resource, rid, id, body, actor) {
      const members = membersOf(body);
      store.write(() => {
        const [row] = rowsOf(what, resource, rid, id);
        if (!row) throw new Problem("not_found", "Not found.");
        const type =
          what === "notes"
            ? undefined
            : statements.get({
                text: "SELECT * FROM field_type WHERE rid = ?",
                args: [row.annotation_type],
              })!;
        if (type?.readonly === 1 && !actor.superuser)
          throw refused("value", "Values of this type can only be read.");
        const value = type ? valueOf(type, members, actor) : contentOf(members);
        statements.run({
          text: `UPDATE ${TABLES[what]} SET ${type ? "value" : "content"} = ?, modified = ?, modified_by = ? WHERE rid = ?`,
          args: [value, now(), actor.user, row.rid],
        });
      });
      return print(what, rowsOf(what, resource, rid, id)[0], actor);
    },
    remove(what, resource, rid, id) {
      store.write(() => {
        const [row] = rowsOf(what, resource, rid, id);
        if (!row) throw new Problem("not_found", "Not found.");
        statements.run({ text: `DELETE FROM ${TABLES[what]} WHERE rid = ?`, args: [row.rid] });
      });
    },
  };
}

const ALIVE = compare(["deleted"], "==", 0);
const ANY = compare(["version"], ">=", 0);

const refused = (field: string, text: string): Problem => fieldProblem(new Map([[field, [text]]]));

function membersOf(body: Json): Members {
  if (body !== null && typeof body === "object" && !Array.isArray(body)) return body;
  throw refused("non_field_errors", "Invalid data. Expected a dictionary.");
}
