import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Listening } from "../../src/app/listen.ts";
import { decode } from "../../src/motif/index.ts";
import { labd, serveHere } from "../commands/labd.ts";
import { shownCode } from "../fixtures/authenticator.ts";
import { listOperations } from "../described.ts";
import { WITHOUT_ENTRY } from "./without-audit-entry.ts";
import { random, randomProtein } from "../fixtures/random-protein.ts";
import { waitFor } from "../wait.ts";

/**
 * Every operation that belongs in the audit log leaves its entry: each is done, over HTTP or by a command, and its entry
 * is looked up. Operations without an entry are listed with the reason.
 */

setDefaultTimeout(300_000);

const PASSWORD = "a long password";
const directory = mkdtempSync(join(tmpdir(), "labd-audit-"));
const file = (name: string): string => join(directory, name);
const SAMPLE = readFileSync(join(import.meta.dir, "../../src/sample/proteins.fasta"), "utf8");
const FASTA = SAMPLE.slice(0, SAMPLE.lastIndexOf("\n>", 16_000) + 1);
const BED = `${FASTA.slice(1, FASTA.indexOf(" "))}\t0\t5\tdomain\n`;
const CLASSES = "ELMIdentifier\tRegex\nTEST_NEW\tP..P.K\n";
let service: Listening;
let receiver: Bun.Server<unknown>;
/** Headers of the administrator's session. */
let session: Record<string, string> = {};
/** Values that later operations need. */
const kept: Record<string, string> = {};

const start = (more: Record<string, string> = {}) =>
  serveHere(directory, {
    webhook_allow: "127.0.0.0/8",
    oidc_issuer: "https://idp.example",
    oidc_client_id: "labd",
    ...more,
  });

beforeAll(async () => {
  receiver = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("ok") });
  await Bun.write(file("first.fasta"), FASTA);
  await Bun.write(file("second.fasta"), FASTA.slice(0, FASTA.lastIndexOf(">")));
  await Bun.write(file("classes.tsv"), CLASSES);
  await Bun.write(file("features.bed"), BED);
  await Bun.write(file("projects.csv"), "name\nfrom a file\n");
  await Bun.write(
    file("oidc.toml"),
    '[oidc]\noidc_issuer = "https://idp.example"\noidc_client_id = "labd"\n',
  );
  service = await start();
  kept.key = parseKey(service.setUp!);
});
afterAll(async () => {
  await receiver.stop(true);
  await service.stop();
  rmSync(directory, { recursive: true });
});

type Entry = { seq: number; actor: string | null } & Record<"via" | "action" | "outcome" | "detail", string>;
const entriesAfter = (seq: number): Entry[] =>
  service.database.query("SELECT * FROM audit WHERE seq > ? ORDER BY seq").all(seq) as Entry[];
const lastSeq = (): number =>
  (service.database.query("SELECT max(seq) AS seq FROM audit").get() as { seq: number }).seq;

// oxlint-disable-next-line typescript/no-explicit-any -- JSON of many forms
type Parsed = Record<string, any>;

/** @param operation method and path */
async function ask(operation: string, body?: unknown, headers = session): Promise<Parsed> {
  const [method, path] = operation.split(" ");
  const isData = typeof body === "string";
  const response = await service.answer(
    new Request(service.url + path, {
      method,
      headers: {
        ...headers,
        ...(isData || body === undefined ? {} : { "Content-Type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: isData ? body : JSON.stringify(body) }),
    }),
  );
  const text = await response.text();
  if (response.status >= 400) throw new Error(`${operation}: ${response.status} ${text}`);
  const parsed: Parsed = text.startsWith("{") || text.startsWith("[") ? JSON.parse(text) : {};
  const cookie = response.headers.get("set-cookie")?.split(";")[0];
  return cookie ? { ...parsed, session: { Cookie: cookie, "X-CSRFToken": parsed.csrf_token } } : parsed;
}

const signIn = async (username = "ada"): Promise<Record<string, string>> =>
  (await ask("POST /api/v2/session/", { username, password: PASSWORD }, {})).session;

/** Starts a task and waits for its end. */
async function task(operation: string, body?: unknown): Promise<void> {
  const { id } = await ask(operation, body);
  await waitFor(async () => {
    const { state, said } = await ask(`GET /api/admin/tasks/${id}`);
    if (state !== "running" && state !== "done") throw new Error(String(said));
    return state === "done";
  });
}

async function command(line: string): Promise<string> {
  const { code, stdout, stderr } = await labd([...line.split(" "), "--data-dir", directory], {
    stdin: PASSWORD,
  });
  if (code !== 0) throw new Error(`labd ${line}: ${stderr}`);
  return stdout;
}

const parseKey = (url: string): string => new URL(url).searchParams.get("key")!;
const add = async (name: string): Promise<string> => (await ask("POST /api/v2/projects/", { name })).id;
async function secondFactor(headers = session): Promise<string> {
  const { secret } = await ask("POST /api/account/second-factor", {}, headers);
  const code = shownCode(String(secret));
  const confirmed = await ask("POST /api/account/second-factor/confirm", { code }, headers);
  return confirmed.recovery_codes.join(" ");
}

type Step = [operation: string, leaves: string, body?: unknown];
/** A request with its body, or a command line. */
const simple = ([operation, leaves, body]: Step): Operation => [
  operation,
  leaves,
  async () =>
    operation.startsWith("labd ") ? command(operation.slice(5)) : ask(operation.replace(/ \(.*/, ""), body),
];
type Operation = [operation: string, leaves: string, run: () => Promise<unknown>];
const step = (...operation: Operation): Operation => operation;
const recoveryCode = (): string => kept.codes.split(" ")[0];

/** Operations in order, with the actions of the entries that each leaves. */
const OPERATIONS: Operation[] = [
  step("POST /api/setup", "account.create link.use sign_in", async () => {
    const body = { key: kept.key, username: "ada", password: PASSWORD };
    ({ session } = await ask("POST /api/setup", body, {}));
  }),
  step("POST /api/v2/session/", "sign_in", signIn),
  step("DELETE /api/v2/session/", "sign_out", async () =>
    ask("DELETE /api/v2/session/", undefined, await signIn()),
  ),
  step("POST /api/v2/token-auth/", "sign_in token.create", () =>
    ask("POST /api/v2/token-auth/", { username: "ada", password: PASSWORD }, {}),
  ),
  step("POST /api/account/password", "account.password", async () => {
    const body = { current_password: PASSWORD, password: PASSWORD };
    ({ session } = await ask("POST /api/account/password", body));
  }),
  step(
    "DELETE /api/account/sessions",
    "session.end",
    async () => (await signIn(), ask("DELETE /api/account/sessions")),
  ),
  step("DELETE /api/account/sessions/ID", "session.end", async () => {
    await signIn();
    const { results } = await ask("GET /api/account/sessions");
    const { id } = results.find(({ current }: { current: boolean }) => !current);
    await ask(`DELETE /api/account/sessions/${id}`);
  }),
  simple(["POST /api/account/confirmation", "session.confirm", { current_password: PASSWORD }]),
  step(
    "POST /api/account/second-factor/confirm",
    "second_factor.enable",
    async () => (kept.codes = await secondFactor()),
  ),
  step("POST /api/account/second-factor/recovery-codes", "second_factor.recovery_codes", async () => {
    const path = "POST /api/account/second-factor/recovery-codes";
    kept.codes = (await ask(path, { code: recoveryCode() })).recovery_codes.join(" ");
  }),
  step("POST /api/account/second-factor/remove", "second_factor.disable", () =>
    ask("POST /api/account/second-factor/remove", { code: recoveryCode() }),
  ),
  simple(["POST /api/v2/users/", "account.create", { username: "kim", password: PASSWORD }]),
  simple(["PATCH /api/v2/users/kim/", "account.change", { is_superuser: true }]),
  step("PUT /api/v2/users/kim/", "account.change", async () => {
    const { id: _, date_joined: __, ...kim } = await ask("GET /api/v2/users/kim/");
    await ask("PUT /api/v2/users/kim/", { ...kim, is_superuser: false });
  }),
  simple(["PATCH /api/v2/users/kim/ (password)", "account.password", { password: PASSWORD }]),
  step("DELETE /api/admin/users/kim/second-factor", "second_factor.reset", async () => {
    await secondFactor(await signIn("kim"));
    await ask("DELETE /api/admin/users/kim/second-factor");
  }),
  simple([
    "POST /api/admin/users/kim/identities",
    "account.link",
    { provider: "oidc", who: "kim's subject" },
  ]),
  simple(["DELETE /api/admin/users/kim/identities/oidc", "account.unlink"]),
  step(
    "POST /api/admin/users/kim/password-link",
    "link.create",
    async () => (kept.link = parseKey((await ask("POST /api/admin/users/kim/password-link")).url)),
  ),
  step("POST /api/account/password (by a link)", "link.use account.password sign_in", () =>
    ask("POST /api/account/password", { key: kept.link, password: PASSWORD }, {}),
  ),
  simple(["DELETE /api/v2/users/kim/", "account.disable"]),
  simple(["PATCH /api/v2/users/kim/ (enable)", "account.enable", { is_active: true }]),
  step(
    "POST /api/v2/tokens/",
    "token.create",
    async () => (kept.token = (await ask("POST /api/v2/tokens/", { name: "cron" })).id),
  ),
  step("DELETE /api/v2/tokens/ID/", "token.revoke", () => ask(`DELETE /api/v2/tokens/${kept.token}/`)),
  step("DELETE /api/admin/tokens/ID", "token.revoke", async () =>
    ask(`DELETE /api/admin/tokens/${(await ask("POST /api/v2/tokens/", { name: "x" })).id}`),
  ),
  step("GET by a token", "token.create token.use", async () => {
    const { token } = await ask("POST /api/v2/tokens/", { name: "used" });
    await ask("GET /api/v2/users/", undefined, { Authorization: `Token ${token}` });
  }),
  simple(["POST /api/v2/groups/", "group.create", { name: "Cold" }]),
  simple(["PATCH /api/v2/groups/Cold/", "group.change", { description: "Freezers" }]),
  simple(["PUT /api/v2/groups/Cold/", "group.change", { name: "Cold", description: "Ice" }]),
  simple(["POST /api/v2/groups/Cold/members/", "membership.change", ["kim"]]),
  simple(["PUT /api/v2/groups/Cold/members/", "membership.change", []]),
  simple(["PUT /api/v2/groups/Cold/members/kim/", "membership.change", {}]),
  simple(["DELETE /api/v2/groups/Cold/members/kim/", "membership.change"]),
  simple(["POST /api/v2/groups/Cold/members/kim/restore/", "membership.change", {}]),
  simple(["DELETE /api/v2/groups/Cold/members/kim/", "membership.change"]),
  simple(["POST /api/v2/groups/Cold/members/kim/purge/", "membership.change"]),
  simple(["DELETE /api/v2/groups/Cold/", "group.delete"]),
  step("DELETE /api/v2/projects/ID/", "record.delete", async () =>
    ask(`DELETE /api/v2/projects/${(kept.gone = await add("one"))}/`),
  ),
  step("POST /api/v2/projects/ID/restore/", "record.restore", () =>
    ask(`POST /api/v2/projects/${kept.gone}/restore/`, {}),
  ),
  step("POST /api/v2/projects/ID/purge/", "record.delete record.purge", async () => {
    await ask(`DELETE /api/v2/projects/${kept.gone}/`);
    await ask(`POST /api/v2/projects/${kept.gone}/purge/`);
  }),
  step("DELETE /api/v2/projects/bulk_delete/", "record.delete", async () =>
    ask(`DELETE /api/v2/projects/bulk_delete/?id=${await add("a")}&id=${await add("b")}`),
  ),
  ...["PATCH", "PUT"].flatMap((method): Operation[] => {
    const users = method === "PATCH" ? [{ user: "kim", view: true }] : [];
    return [
      [
        `${method} /api/v2/projects/ID/permissions/`,
        "permission.change",
        async () => {
          kept.project ??= await add("shared");
          await ask(`${method} /api/v2/projects/${kept.project}/permissions/`, { users });
        },
      ],
      [
        `${method} /api/v2/projects/permissions/`,
        "permission.change",
        async () => {
          const ids = [await add(`shared by ${method}`)];
          await ask("PATCH /api/v2/projects/permissions/", { ids, users: [{ user: "kim", view: true }] });
          await ask(`${method} /api/v2/projects/permissions/`, { ids, users });
        },
      ],
    ];
  }),
  step("PATCH /api/v2/projects/ID/ (owner)", "permission.change", () =>
    ask(`PATCH /api/v2/projects/${kept.project}/`, { owner: "kim" }),
  ),
  step("POST /api/v2/projects/import/", "record.import", () =>
    ask("POST /api/v2/projects/import/", "name\nimported\n", { ...session, "Content-Type": "text/csv" }),
  ),
  step("POST /api/webhooks/", "webhook.create", async () => {
    const url = `http://127.0.0.1:${receiver.port}/?key=SECRET`;
    kept.hook = (await ask("POST /api/webhooks/", { url })).id;
  }),
  step("POST /api/webhooks/ID/secret/", "webhook.secret", () =>
    ask(`POST /api/webhooks/${kept.hook}/secret/`),
  ),
  step("POST /api/webhooks/ID/resume/", "webhook.resume", () =>
    ask(`POST /api/webhooks/${kept.hook}/resume/`),
  ),
  step("DELETE /api/webhooks/ID/", "webhook.remove", () => ask(`DELETE /api/webhooks/${kept.hook}/`)),
  step("POST /api/admin/corpora", "task.start corpus.add", () =>
    task("POST /api/admin/corpora?name=first", FASTA),
  ),
  step("POST /api/admin/corpora/first/verify", "task.start", () =>
    task("POST /api/admin/corpora/first/verify"),
  ),
  simple(["POST /api/admin/corpora/first/use", "corpus.use"]),
  simple([`labd corpus add ${file("second.fasta")} --name second`, "corpus.add"]),
  simple(["labd corpus use second", "corpus.use"]),
  simple(["labd corpus remove first", "corpus.remove"]),
  step("POST /api/admin/features", "task.start features.add", () =>
    task(`POST /api/admin/features?name=web`, BED),
  ),
  simple(["DELETE /api/admin/features/web", "features.remove"]),
  simple([`labd features add ${file("features.bed")} --name cli`, "features.add"]),
  simple(["labd features remove cli", "features.remove"]),
  step("POST /api/admin/proteome/builds", "proteome.build", async () => {
    kept.build = (await ask("POST /api/admin/proteome/builds", {})).id;
  }),
  step("DELETE /api/admin/proteome/builds/ID", "proteome.cancel", () =>
    ask(`DELETE /api/admin/proteome/builds/${kept.build}`),
  ),
  step("DELETE /api/tasks/ID", "proteome.cancel", async () =>
    ask(`DELETE /api/tasks/${(await ask("POST /api/admin/proteome/builds", {})).id}`),
  ),
  simple(["DELETE /api/admin/corpora/second", "corpus.remove"]),
  simple(["PUT /api/admin/motif-classes", "motif_classes.import", CLASSES]),
  simple(["DELETE /api/admin/motif-classes", "motif_classes.remove"]),
  simple([`labd elm import ${file("classes.tsv")}`, "motif_classes.import"]),
  simple(["labd elm remove", "motif_classes.remove"]),
  step("DELETE /api/admin/jobs/ID", "job.cancel", async () => {
    const ids: string[] = [];
    // The last job waits while the only worker has the first.
    for (let i = 0; i < 6; i++) {
      const querySequence = decode(randomProtein(random(i), 30_000));
      ids.push((await ask("POST /api/scoring/jobs", { querySequence, patterns: ["P..P"] })).id);
    }
    await ask(`DELETE /api/admin/jobs/${ids.pop()}`);
    for (const id of ids) await ask(`DELETE /api/scoring/jobs/${id}`).catch(() => undefined);
  }),
  step("POST /api/admin/backups", "task.start backup.make", () => task("POST /api/admin/backups")),
  step("POST /api/admin/backups/NAME/verify", "task.start", async () => {
    const { results } = await ask("GET /api/admin/backups");
    await task(`POST /api/admin/backups/${results[0].name}/verify`);
  }),
  step(
    "POST /api/admin/health/examination",
    "task.start",
    async () => (kept.task = (await ask("POST /api/admin/health/examination")).id),
  ),
  step("DELETE /api/admin/tasks/ID", "task.cancel", () => ask(`DELETE /api/admin/tasks/${kept.task}`)),
  simple(["labd user add lee --password-stdin --group New", "group.create account.create"]),
  simple(["labd user password lee --password-stdin", "account.password"]),
  step(
    "labd user totp lee --reset",
    "second_factor.reset",
    async () => (await secondFactor(await signIn("lee")), command("user totp lee --reset")),
  ),
  simple([`labd user link lee --oidc 1 --config ${file("oidc.toml")}`, "account.link"]),
  simple(["labd user unlink lee --from oidc", "account.unlink"]),
  ...["disable", "enable"].map((to) => simple([`labd user ${to} lee`, `account.${to}`])),
  simple(["labd token add lee", "token.create"]),
  simple(["labd token revoke --user lee", "token.revoke"]),
  step("labd import", "record.import", () =>
    command(`import ${file("projects.csv")} --resource projects --port ${service.port} --user ada`),
  ),
  step("labd backup --thin", "backup.make backup.remove", () =>
    labd(["backup", "--thin", "--backup-keep", "0 days", "--data-dir", directory]),
  ),
];

test.each(OPERATIONS)("%s writes the audit entry %s", async (operation, leaves, run) => {
  const before = lastSeq();
  await run();
  const actions = leaves.split(" ");
  const entries = entriesAfter(before).filter(({ action }) => actions.includes(action));
  expect(entries.map(({ action }) => action)).toEqual(expect.arrayContaining(actions));
  const isCommand = operation.startsWith("labd ") && operation !== "labd import";
  for (const { actor, via, outcome, detail } of entries) {
    expect(outcome).toBe("done");
    expect(detail).not.toMatch(/a long password|SECRET|whsec_|labd_[\w-]{20}/);
    if (isCommand) expect([via, actor]).toEqual(["command line", expect.stringMatching(/^uid:\d+$/)]);
    else if (via === "command line") expect(actor).toMatch(/^uid:\d+ on behalf of ada$/);
    // A person who sets a password by a link is not signed in yet.
    else if (!/setup|link/.test(operation)) expect(actor).not.toBeNull();
  }
});

test("every write operation of the API is listed above or has a reason for its absence", async () => {
  const paths = listOperations(await ask("GET /docs/json"));
  const done = OPERATIONS.map(([operation]) => operation.replace(/ \(.*\)$/, ""));
  const missing: string[] = [];
  for (const [path, methods] of Object.entries(paths)) {
    // One list stands for all, which come from the same declaration.
    const isList =
      path.startsWith("/api/v2/") &&
      !/^\/api\/v2\/(users|groups|tokens|session|token-auth|attachments)\b/.test(path);
    if (isList && !path.startsWith("/api/v2/projects")) continue;
    for (const method of Object.keys(methods).filter((method) => method !== "get")) {
      const operation = `${method.toUpperCase()} ${path}`;
      const pattern = new RegExp(`^${operation.replace(/\{\w+\}/g, "[^/]+")}/?$`);
      const isKnown = done.some((each) => pattern.test(each));
      if (!isKnown && !WITHOUT_ENTRY.some(([rule]) => rule.test(operation))) missing.push(operation);
    }
  }
  expect(missing).toEqual([]);
});

test("a command acts on behalf of a user only for an existing task", async () => {
  for (const claimed of ["ada", crypto.randomUUID(), "' OR 1 --"]) {
    const before = lastSeq();
    process.env.LABD_TASK = claimed;
    await command("backup").finally(() => delete process.env.LABD_TASK);
    const entry = entriesAfter(before).find(({ action }) => action === "backup.make")!;
    expect(entry.actor).toMatch(/^uid:\d+$/);
  }
  const { results } = await ask("GET /api/admin/audit/?actor=ada&action=backup.make");
  expect(results[0].actor).toMatch(/^uid:\d+ on behalf of ada$/);
  for (const other of ["ad", "da", "_da", "%25"])
    expect((await ask(`GET /api/admin/audit/?actor=${other}&action=backup.make`)).results).toEqual([]);
});

test("the audit log records the backup and previous head of a restore, and the settings of a start without secrets", async () => {
  const head = lastSeq();
  await service.stop();
  const manifest = readdirSync(file("backups")).find((name) => name.endsWith(".json"))!;
  await command(`restore ${file(`backups/${manifest}`)}`);
  service = await start({ backup_keep: "3 days", metrics_token: "SECRET-of-16-characters" });
  const [restored, started] = service.database
    .query("SELECT * FROM audit ORDER BY seq DESC LIMIT 2")
    .all()
    .reverse() as Entry[];
  expect(restored).toMatchObject({ action: "backup.restore", via: "command line" });
  expect(JSON.parse(restored.detail).former_head.seq).toBeGreaterThanOrEqual(head);
  expect(started).toMatchObject({ action: "service.start", via: "service" });
  expect(JSON.parse(started.detail).settings).toMatchObject({
    backup_keep: "3 days",
    metrics_token: "********",
  });
  expect(await command("audit verify")).toContain("The audit log is intact");
});
