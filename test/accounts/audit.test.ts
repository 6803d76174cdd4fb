import { describe, expect, test } from "bun:test";
import {
  type AuditFilter,
  auditHead,
  getAuditLog,
  canonical,
  verifyChain,
} from "../../src/accounts/audit.ts";
import { commandLineOrigin, recordStart } from "../../src/accounts/audit-offline.ts";
import { RequestContext, runInRequest } from "../../src/platform/request-context.ts";
import { openAccounts, request } from "./stage.ts";

function opened() {
  const { accounts, clock, database } = openAccounts();
  const triggers = database.query(
    "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'audit'",
  );
  for (const { name } of triggers.all() as { name: string }[]) database.run(`DROP TRIGGER ${name}`);
  const { log } = accounts.audit;
  for (const [i, action] of ["token.create", "token.revoke", "service.start", "sign_in"].entries()) {
    clock.at += 1000;
    log.record({ action, detail: { n: i } }, { actor: ["kim", "uid:0 on behalf of kim", "lee", null][i] });
  }
  return { accounts, clock, database, log, start: clock.at - 4000 };
}

describe("the hash chain of the audit log", () => {
  test.each([
    ["", null],
    ["UPDATE audit SET actor = 'max' WHERE seq = 2", { seq: 2, why: "its hash does not match" }],
    ["UPDATE audit SET time = time + 1 WHERE seq = 3", { seq: 3, why: "its hash does not match" }],
    ["UPDATE audit SET detail = '{}' WHERE seq = 1", { seq: 1, why: "its hash does not match" }],
    ["DELETE FROM audit WHERE seq = 1", { seq: 2, why: "it follows entry 0" }],
    ["DELETE FROM audit WHERE seq = 3", { seq: 4, why: "it follows entry 2" }],
    ["DELETE FROM audit WHERE seq > 2", { seq: 4, why: "the log ends with entry 2" }],
    ["DELETE FROM audit", { seq: 4, why: "the log ends with entry 0" }],
  ])("detects %p at entry %j", (sql, broken) => {
    const { database, log } = opened();
    const head = log.head()!;
    expect(head).toEqual({ seq: 4, hash: log.latest({}, 1)[0].hash });
    if (sql !== "") database.run(sql);
    const found = verifyChain(database, [head]);
    expect(found.broken?.seq).toBe(broken?.seq);
    expect(found.broken?.why ?? "").toContain(broken?.why ?? "");
    const { n } = database.query("SELECT count(*) AS n FROM audit").get() as { n: number };
    expect([found.entries, found.head]).toEqual([n, auditHead(database)]);
  });

  test("detects by a recorded head that the log was rewritten with new hashes", () => {
    const { database, log } = opened();
    const heads = [log.head()!];
    database.run("DELETE FROM audit WHERE seq >= 3");
    for (const action of ["other", "sign_in"]) log.record({ action });
    expect(verifyChain(database).broken).toBeNull();
    expect(verifyChain(database, heads).broken).toMatchObject({
      seq: 4,
      why: `its recorded hash is ${heads[0].hash}`,
    });
  });
});

test.each<[AuditFilter | "start" | "end", number[]]>([
  [{}, [4, 3, 2, 1]],
  [{ actor: "kim" }, [2, 1]],
  [{ actor: "uid:0 on behalf of kim" }, [2]],
  [{ action: "token" }, [2, 1]],
  [{ action: "token.revoke" }, [2]],
  [{ action: "sign_in" }, [4]],
  [{ action: "tok" }, []],
  [{ before: 3 }, [2, 1]],
  [{ after: 2 }, [4, 3]],
  [{ actor: "kim", action: "token.create" }, [1]],
  ["start", [4, 3]],
  ["end", [2, 1]],
])("the filter %j finds entries %j", (filter, entries) => {
  const { log, start } = opened();
  const at = start + 3000;
  const found = filter === "start" ? { since: at } : filter === "end" ? { until: at } : filter;
  expect(log.latest(found, 10).map(({ seq }) => seq)).toEqual(entries);
  expect([...log.pages(found)].flat().map(({ seq }) => seq)).toEqual(entries.toReversed());
  expect(log.latest(found, 1)).toHaveLength(Math.min(1, entries.length));
});

test("examines a long log in pieces", () => {
  const { database, log } = opened();
  database.run(
    `WITH RECURSIVE n (i) AS (SELECT 5 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
     INSERT INTO audit (seq, time, via, action, outcome, detail, hash)
     SELECT i, 0, 'none', iif(i % 20000 = 0, 'rare', 'common'), 'done', '{}', hash FROM n, (SELECT hash FROM audit LIMIT 1)`,
  );
  const filter = { action: "rare" };
  const seqs = (pages: Iterable<{ seq: number }[]>) => [...pages].map((page) => page.map(({ seq }) => seq));
  expect(seqs(log.latestPages(filter, 10))).toEqual([[40_000], [20_000], []]);
  expect(seqs(log.latestPages(filter, 1))).toEqual([[40_000]]);
  expect(seqs(log.pages(filter))).toEqual([[20_000], [40_000], []]);
  expect([...log.pages({})].every((page) => page.length <= 250)).toBe(true);
  expect([...log.pages({})].flat()).toHaveLength(50_000);
});

test("records an event with its transaction and the origin of the request", () => {
  const { accounts, database, log } = opened();
  const roll = database.transaction(() => {
    log.record({ action: "undone" });
    throw new Error("undone");
  });
  expect(() => roll()).toThrow("undone");
  const context = new RequestContext(request(), "r1", { address: () => "192.0.2.1", origin: () => "" });
  runInRequest(context, () => log.record({ action: "done", outcome: "refused" }));
  expect(log.latest({}, 1)[0]).toMatchObject({
    seq: 5,
    action: "done",
    outcome: "refused",
    subject: null,
    address: "192.0.2.1",
    request: "r1",
    via: "none",
  });
  expect(getAuditLog(database, { now: () => 0 })).toBe(accounts.audit.log);
});

test("records at start whether the service was stopped properly", () => {
  const { log } = opened();
  const stopped = () => (recordStart(log, { version: "1" }), log.latest({}, 1)[0].detail);
  expect(stopped()).toEqual({ version: "1", stopped_before: false });
  log.record({ action: "service.stop" });
  expect(stopped()).toEqual({ version: "1", stopped_before: true });
  log.record({ action: "task.start", subject: { kind: "task", id: "t1" } }, { actor: "ada" });
  expect([log.taskStarter("t1"), log.taskStarter("t2")]).toEqual(["ada", null]);
  process.env.LABD_TASK = "t1";
  expect(commandLineOrigin(log).actor).toBe(`uid:${process.getuid!()} on behalf of ada`);
  delete process.env.LABD_TASK;
  expect(commandLineOrigin(log)).toMatchObject({ actor: `uid:${process.getuid!()}`, via: "command line" });
});

test("canonical JSON sorts keys at every level", () => {
  expect(canonical({ b: [{ d: 1, c: null }], a: "ü" })).toBe('{"a":"ü","b":[{"c":null,"d":1}]}');
});
