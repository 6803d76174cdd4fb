/** A large laboratory: records whose texts share words, with stock, annotations, notes and files. */
import { Database } from "bun:sqlite";
import { fold } from "../../../src/platform/folded-text.ts";

const DAY = 86_400_000_000;
/** "sample" and "batch" are in all records; each of these is in about a fifth of them. */
export const WORDS =
  "anti GFP mouse rabbit primer plasmid buffer enzyme kinase human tube plate antibody oligo RNA DNA cells lysate stain ligase".split(
    " ",
  );

/** Users besides the administrator, and the groups that own records. Others may view ten records, which are public. */
export const USERS = { alice: "Genomics", bob: "Imaging", dora: "Guests" } as const;

const numbers = (count: number, from = 1): string =>
  `WITH RECURSIVE n (i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM n WHERE i < ${count - 1 + from})`;

/** One of the words, by a multiple of the number. */
const word = (factor: number): string => {
  const list = JSON.stringify(WORDS);
  return `json_extract('${list}', '$[' || ((i * ${factor} + (i >> 3) * ${factor % 17}) % 20) || ']')`;
};

const id = (kind: number): string => `printf('${kind}0000000-0000-4000-8000-%012d', i)`;

/** @param records of stock and locations in all: half consumables, three in ten specimens, the others locations */
export function fillLaboratory(path: string, records: number): void {
  const database = new Database(path);
  database.function("fold", { deterministic: true }, (text: unknown) => fold(String(text)));
  database.run("PRAGMA synchronous = OFF");
  // The texts are indexed when the database is opened.
  database.run("DELETE FROM record_text_source");
  const rid = (table: string, column: string, name: string): number =>
    (database.query(`SELECT rid FROM ${table} WHERE ${column} = ?`).get(name) as { rid: number }).rid;
  const [admin, alice, bob] = ["admin", "alice", "bob"].map((name) => rid("user_account", "username", name));
  const [system, genomics, imaging] = ["SYSTEM_GROUP", "Genomics", "Imaging"].map((name) =>
    rid("user_group", "name", name),
  );
  const now = Date.now() * 1000;
  // Three years of changes; alice and her group have a quarter, bob and his a tenth.
  const common = `${now} - (i * 7919 % ${records}) * ${Math.floor((1000 * DAY) / records)}`;
  const owners = `iif(i % 8 = 1, ${alice}, iif(i % 20 = 2, ${bob}, ${admin})), iif(i % 8 = 3, ${genomics}, iif(i % 20 = 4, ${imaging}, ${system}))`;
  const shared = "barcode, created, modified, created_by, modified_by, owner, owned_by, public";
  const name = `${word(7919)} || ' ' || ${word(104729)} || ' ' || i`;
  const text = `'Sample of ' || ${word(31)} || ' from ' || ${word(77)} || ', batch ' || (i % 977)`;
  const values = `printf('BC%08d', i), ${common}, ${common}, ${admin}, ${admin}, ${owners}, i % ${records / 10} = 7`;
  const stock = `iif(i % 3 = 0, 100, NULL), iif(i % 6 = 0, iif(i % 50 = 0, 200, 20), NULL), iif(i % 2 = 0, (${Math.floor(now / DAY)} + (i * 31) % 2000 - 1000) * ${DAY}, NULL)`;
  const insert = (table: string, count: number, from: number, kind: number): void => {
    const [title, columns, more] =
      table === "location" ? ["label", "", ""] : ["name", ", amount, minimum_amount, expiry", `, ${stock}`];
    database.run(
      `${numbers(count, from)} INSERT INTO ${table} (id, ${title}, ${title}_fold, description, ${shared}${columns})
       SELECT ${id(kind)}, ${name}, lower(${name}), ${text}, ${values}${more} FROM n`,
    );
  };
  database.transaction(() => {
    insert("consumable", records / 2, 1, 1);
    insert("specimen", (records * 3) / 10, records / 2 + 1, 2);
    insert("location", records / 5, (records * 8) / 10 + 1, 3);
    addParts(database, records, admin);
  })();
  database.run("PRAGMA optimize");
  database.close();
}

/** Annotations of three in ten records, notes of a tenth, names of files of some. */
function addParts(database: Database, records: number, admin: number): void {
  const type = database
    .query(
      `INSERT INTO field_type (id, kind, name, name_fold, label, description_fold, type, preferred_view_widget, preferred_edit_widget,
         preferred_list_widget, field_meta, created, modified, created_by, modified_by, owner, owned_by, public)
       VALUES ('70000000-0000-4000-8000-000000000000', 'annotation', 'genotype', 'genotype', 'genotype', '', 'TEXT', 'TEXT', 'TEXTINPUT',
         'TEXT', 1, 0, 0, 1, 1, 1, 1, 1) RETURNING rid`,
    )
    .get() as { rid: number };
  const by = `0, 0, ${admin}, ${admin}`;
  const columns = "created, modified, created_by, modified_by, id, object_kind, object_rid";
  database.run(
    `${numbers((records * 3) / 10)} INSERT INTO annotation (${columns}, annotation_type, value)
     SELECT ${by}, ${id(4)}, iif(i % 3 = 0, 'specimen', 'consumable'), i % ${(records * 3) / 10} + 1, ${type.rid}, '"' || ${word(53)} || '-' || i || ' wt/flox"' FROM n`,
  );
  database.run(
    `${numbers(records / 10)} INSERT INTO note (${columns}, content)
     SELECT ${by}, ${id(5)}, 'consumable', i * 3, 'Thawed ' || ${word(11)} || ' twice, number ' || i FROM n`,
  );
  database.run(
    `${numbers(records / 25)} INSERT INTO attachment (${columns}, name, media_type, size, sha256)
     SELECT ${by}, ${id(6)}, 'specimen', i * 3, 'gel_' || ${word(13)} || '_' || i || '.pdf', 'text/plain', 1, 'x' FROM n`,
  );
}
