/** An executable of labd with the records of the benchmark. */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { fold } from "../../../src/platform/folded-text.ts";
import { GROUPS, TYPES, USERS } from "./requests.ts";
import { type Service, withChildren } from "./service.ts";

/** Starts an executable on a new database, which it creates itself: versions differ in their tables. */
export async function startLabd(executable: string, directory: string, records: number): Promise<Service> {
  const run = (...words: string[]): string => {
    const done = Bun.spawnSync([executable, ...words, "--data-dir", directory], { stderr: "pipe" });
    if (!done.success) throw new Error(`${executable} ${words.join(" ")}: ${done.stderr.toString()}`);
    return done.stdout.toString().trim();
  };
  run("user", "add", "admin", "--admin");
  run("user", "add", "user0", "--group", "Group 0");
  addRecords(join(directory, "labd.sqlite"), records);
  const tokens = Object.fromEntries(
    ["admin", "user0"].map((user) => [user, run("token", "add", user, "--name", "bench")]),
  );
  const child = Bun.spawn([executable, "serve", "--data-dir", directory, "--port", "0", "--workers", "1"], {
    stdout: "ignore",
    stderr: "pipe",
  });
  const url = await addressIn(child.stderr);
  return {
    name: executable,
    base: `${url}api/v2/`,
    tokens,
    pids: () => withChildren(child.pid),
    async stop() {
      child.kill();
      await child.exited;
    },
  };
}

/** The first URL of a log, which is read on. */
async function addressIn(log: ReadableStream<Uint8Array>): Promise<string> {
  const reader = log.getReader();
  const decoder = new TextDecoder();
  let output = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw new Error(output);
    output += decoder.decode(value, { stream: true });
    const address = /http:\/\/[^\s"]+/.exec(output);
    if (!address) continue;
    void (async () => {
      while (!(await reader.read()).done);
    })();
    return address[0].replace(/\/?$/, "/");
  }
}

/** Ten annotations of each location: names of lots, choices, numbers, and days. */
function addAnnotations(database: Database, records: number): void {
  const insertType = (name: string, type: string): number => {
    const columns =
      "id, kind, name, name_fold, label, description_fold, type, preferred_view_widget, preferred_edit_widget, preferred_list_widget, field_meta, created, modified, created_by, modified_by, owner, owned_by, public";
    const id = `70000000-0000-4000-8000-${String(typeCount++).padStart(12, "0")}`;
    database.run(
      `INSERT INTO field_type (${columns}) SELECT ?, 'annotation', ?, ?, ?, '', ?, 'TEXT', 'TEXTINPUT', 'TEXT', 1, 0, 0, 1, 1, 1, 1, 1`,
      [id, name, name, name, type],
    );
    return Number((database.query("SELECT last_insert_rowid() AS rid").get() as { rid: number }).rid);
  };
  let typeCount = 0;
  const values: [name: string, type: string, value: string][] = [
    ["lot", "TEXT", `'"Lot ' || ((l.rid * 7919) % ${records}) || '"'`],
    ["strain", "TEXT", `'"strain ' || (l.rid / 10 % 40) || '"'`],
    ["remark", "TEXT", `'"Thing ' || l.rid || ', number ' || (l.rid * 104729 % 1000) || ' of its kind"'`],
    ["dilution", "NUMBER", "CAST(l.rid * 31 % 5000 AS TEXT)"],
    ["received", "DATE", `'"' || date('2020-01-01', (l.rid % 2000) || ' days') || '"'`],
    ...Array.from({ length: 5 }, (_, i): [string, string, string] => [
      `other ${i}`,
      "TEXT",
      `'"value ' || (l.rid % ${10 + i}) || '"'`,
    ]),
  ];
  for (const [name, type, value] of values)
    database.run(
      `INSERT INTO annotation (id, object_kind, object_rid, annotation_type, value, created, modified, created_by, modified_by)
       SELECT '${name} ' || l.rid, 'location', l.rid, ${insertType(name, type)}, ${value}, 0, 0, 1, 1 FROM location AS l`,
    );
}

/** Every second record is public; owners and groups rotate; names are unique. */
function addRecords(path: string, records: number): void {
  const database = new Database(path);
  database.function("fold", { deterministic: true }, (text: unknown) => fold(String(text)));
  const rid = (sql: string): number => (database.query(sql).get() as { rid: number }).rid;
  const first = rid("SELECT rid FROM user_account WHERE username = 'user0'");
  const group = rid("SELECT rid FROM user_group WHERE name = 'Group 0'");
  const numbers = (count: number, from = 0) =>
    `WITH RECURSIVE n (i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM n WHERE i < ${count - 1})`;
  const id = (kind: number) => `printf('${kind}0000000-0000-4000-8000-%012d', i)`;
  const common = `1700000000000000 + i, 1700000000000000 + i, ${first} + i % ${USERS}, ${first} + i % ${USERS}, ${first} + i % ${USERS}, ${group} + i % ${GROUPS}, i % 2`;
  const shared = "created, modified, created_by, modified_by, owner, owned_by, public";
  const name = `'type_' || printf('%07d', i * 7919 % ${records})`;
  const prose = "'Description of thing ' || i || ', number ' || (i * 104729 % 1000) || ' of its kind'";
  const types = TYPES.map((type, i) => `WHEN ${i} THEN '${type}'`).join(" ");
  database.transaction(() => {
    database.run(
      `${numbers(GROUPS, 1)} INSERT INTO user_group (rid, id, name) SELECT ${group} + i, ${id(8)}, 'Group ' || i FROM n`,
    );
    database.run(
      `${numbers(USERS, 1)} INSERT INTO user_account (rid, id, username, date_joined, primary_group)
       SELECT ${first} + i, ${id(9)}, 'user' || i, 0, ${group} + i % ${GROUPS} FROM n`,
    );
    database.run(
      `${numbers(USERS, 1)} INSERT INTO membership (user_rid, group_rid) SELECT ${first} + i, ${group} + i % ${GROUPS} FROM n`,
    );
    database.run(
      `${numbers(records)} INSERT INTO field_type (id, kind, name, name_fold, label, choice_label, description, description_fold, type,
        preferred_view_widget, preferred_edit_widget, preferred_list_widget, field_meta, ${shared})
       SELECT ${id(1)}, 'annotation', ${name}, ${name}, ${name}, ${name}, ${prose}, lower(${prose}),
        CASE i % ${TYPES.length} ${types} END, 'TEXT', 'TEXTINPUT', 'TEXT', 1, ${common} FROM n`,
    );
    database.run(
      `${numbers(records)} INSERT INTO location (id, label, label_fold, description, ${shared})
       SELECT ${id(2)}, 'Box ' || i, 'box ' || i, ${prose}, ${common} FROM n`,
    );
    addAnnotations(database, records);
    // The server indexes the texts when it starts.
    database.run("DELETE FROM record_text_source");
  })();
  database.run("PRAGMA optimize");
  database.close();
}
