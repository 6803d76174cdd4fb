import { afterAll, beforeAll, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { decode } from "../../src/motif/index.ts";
import { shownCode } from "../fixtures/authenticator.ts";
import { random, randomProtein } from "../fixtures/random-protein.ts";
import { labd, scratch, type Server, serve } from "./labd.ts";

/**
 * Whatever belongs in the audit log is in it: each operation is done, by HTTP or at the command line, and its entry
 * looked for. What the document of the interface has besides is named with the reason why it leaves none.
 */

const PASSWORD = "a long password";
const place = scratch();
const on = ["--data-dir", place.directory];
const words = [
  "--backup-hours",
  "0",
  "--workers",
  "1",
  "--webhook-allow",
  "127.0.0.0/8",
  "--config",
  join(place.directory, "provider.toml"),
];
let server: Server;
let database: Database;
let receiver: Bun.Server<unknown>;
const shared: Record<string, string> = {};

beforeAll(async () => {
  receiver = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("ok") });
  // Nobody asks it anything.
  const provider = 'oidc_issuer = "https://idp.example"\noidc_client_id = "labd"\n';
  writeFileSync(join(place.directory, "provider.toml"), provider);
  server = await serve(place.directory, words);
  while (!server.log().includes("/setup?key=")) await Bun.sleep(10);
  shared.key = server.log().match(/\/setup\?key=(\S+)/)![1];
  database = new Database(join(place.directory, "labd.sqlite"), { readonly: true });
});
afterAll(async () => {
  database.close();
  await receiver.stop(true);
  await server[Symbol.asyncDispose]();
  place[Symbol.dispose]();
});

interface Entry {
  seq: number;
  actor: string | null;
  via: string;
  action: string;
  subject_kind: string | null;
  subject_id: string | null;
  outcome: string;
  detail: string;
}
const entriesAfter = (seq: number): Entry[] =>
  database.query("SELECT * FROM audit WHERE seq > ? ORDER BY seq").all(seq) as Entry[];
const lastSeq = (): number =>
  (database.query("SELECT max(seq) AS seq FROM audit").get() as { seq: number }).seq;

/** Headers of the administrator's session, once there is one. */
let session: Record<string, string> = {};

// As JSON comes.
// oxlint-disable-next-line no-explicit-any
type Parsed = Record<string, any>;

async function ask(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = session,
): Promise<Parsed> {
  const isData = typeof body === "string" || body instanceof FormData;
  const response = await fetch(server.url + path, {
    method,
    headers: { ...headers, ...(isData || body === undefined ? {} : { "Content-Type": "application/json" }) },
    ...(body === undefined ? {} : { body: isData ? (body as string) : JSON.stringify(body) }),
  });
  const text = await response.text();
  if (response.status >= 400) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  const parsed: Parsed = text.startsWith("{") || text.startsWith("[") ? JSON.parse(text) : {};
  const cookie = response.headers.get("set-cookie")?.split(";")[0];
  return cookie ? { ...parsed, session: { Cookie: cookie, "X-CSRFToken": parsed.csrf_token } } : parsed;
}

const signIn = async (username = "ada", password = PASSWORD): Promise<Record<string, string>> =>
  (await ask("POST", "/api/v2/session/", { username, password }, {})).session;

/** Waits for the end of a task. */
async function ended(task: Parsed): Promise<void> {
  for (;;) {
    const { state, said } = await ask("GET", `/api/admin/tasks/${task.id}`);
    if (state === "running") await Bun.sleep(20);
    else if (state === "done") return;
    else throw new Error(String(said));
  }
}

async function verb(...given: string[]): Promise<string> {
  const { code, stdout, stderr } = await labd([...given, ...on], { stdin: PASSWORD });
  if (code !== 0) throw new Error(`labd ${given.join(" ")}: ${stderr}`);
  return stdout;
}

const record = async (name: string): Promise<string> =>
  String((await ask("POST", "/api/v2/projects/", { name })).id);
const gone = async (name: string): Promise<string> => {
  const id = await record(name);
  await ask("DELETE", `/api/v2/projects/${id}/`);
  return id;
};
const hook = () => ask("POST", "/api/webhooks/", { url: `http://127.0.0.1:${receiver.port}/?key=SECRET` });
/** A second factor of the session's account, and one of its recovery codes for each that is asked for. */
async function secondFactor(headers = session): Promise<string[]> {
  const { secret } = await ask("POST", "/api/account/second-factor", {}, headers);
  const code = shownCode(String(secret));
  return (await ask("POST", "/api/account/second-factor/confirm", { code }, headers)).recovery_codes;
}
const FASTA = readFileSync(join(import.meta.dir, "../../src/sample/proteins.fasta"), "utf8").slice(0, 16_000);
const CLASSES = "ELMIdentifier\tRegex\nTEST_NEW\tP..P.K\n";
const keyOf = (url: unknown): string => new URL(String(url)).searchParams.get("key")!;

/** What is done, by the name that the document has for it or as it is typed, and actions whose entries it leaves. */
const OPERATIONS: [what: string, does: () => unknown, leaves: string[]][] = [
  [
    "POST /api/setup",
    async () => {
      const { key } = shared;
      ({ session } = await ask("POST", "/api/setup", { key, username: "ada", password: PASSWORD }, {}));
    },
    ["account.create", "link.use", "sign_in"],
  ],
  ["POST /api/v2/session/", signIn, ["sign_in"]],
  [
    "DELETE /api/v2/session/",
    async () => ask("DELETE", "/api/v2/session/", undefined, await signIn()),
    ["sign_out"],
  ],
  [
    "POST /api/v2/token-auth/",
    () => ask("POST", "/api/v2/token-auth/", { username: "ada", password: PASSWORD }, {}),
    ["sign_in", "token.create"],
  ],
  [
    "POST /api/account/password",
    async () => {
      const body = { current_password: PASSWORD, password: PASSWORD };
      ({ session } = await ask("POST", "/api/account/password", body));
    },
    ["account.password"],
  ],
  [
    "DELETE /api/account/sessions",
    async () => (await signIn(), ask("DELETE", "/api/account/sessions")),
    ["session.end"],
  ],
  [
    "DELETE /api/account/sessions/{id}",
    async () => {
      await signIn();
      const { results } = await ask("GET", "/api/account/sessions");
      const other = (results as { id: string; current: boolean }[]).find(({ current }) => !current)!;
      await ask("DELETE", `/api/account/sessions/${other.id}`);
    },
    ["session.end"],
  ],
  [
    "POST /api/account/confirmation",
    () => ask("POST", "/api/account/confirmation", { current_password: PASSWORD }),
    ["session.confirm"],
  ],
  [
    "POST /api/account/second-factor/confirm",
    async () => void (shared.codes = (await secondFactor()).join(" ")),
    ["second_factor.enable"],
  ],
  [
    "POST /api/account/second-factor/recovery-codes",
    async () => {
      const [code] = shared.codes.split(" ");
      const made = await ask("POST", "/api/account/second-factor/recovery-codes", { code });
      shared.codes = made.recovery_codes.join(" ");
    },
    ["second_factor.recovery_codes"],
  ],
  [
    "POST /api/account/second-factor/remove",
    () => ask("POST", "/api/account/second-factor/remove", { code: shared.codes.split(" ")[0] }),
    ["second_factor.disable"],
  ],

  [
    "POST /api/v2/users/",
    () => ask("POST", "/api/v2/users/", { username: "kim", password: PASSWORD }),
    ["account.create"],
  ],
  [
    "PATCH /api/v2/users/{name}/",
    () => ask("PATCH", "/api/v2/users/kim/", { is_superuser: true }),
    ["account.change"],
  ],
  [
    "PUT /api/v2/users/{name}/",
    async () => {
      const { id: _, date_joined: __, ...kim } = await ask("GET", "/api/v2/users/kim/");
      await ask("PUT", "/api/v2/users/kim/", { ...kim, is_superuser: false });
    },
    ["account.change"],
  ],
  [
    "PATCH /api/v2/users/{name}/ (password)",
    () => ask("PATCH", "/api/v2/users/kim/", { password: PASSWORD }),
    ["account.password"],
  ],
  [
    "DELETE /api/admin/users/{username}/second-factor",
    async () => {
      await secondFactor(await signIn("kim"));
      await ask("DELETE", "/api/admin/users/kim/second-factor");
    },
    ["second_factor.reset"],
  ],
  [
    "POST /api/admin/users/{username}/identities",
    () => ask("POST", "/api/admin/users/kim/identities", { provider: "oidc", who: "the subject of kim" }),
    ["account.link"],
  ],
  [
    "DELETE /api/admin/users/{username}/identities/{provider}",
    () => ask("DELETE", "/api/admin/users/kim/identities/oidc"),
    ["account.unlink"],
  ],
  [
    "POST /api/admin/users/{username}/password-link",
    async () => void (shared.link = keyOf((await ask("POST", "/api/admin/users/kim/password-link")).url)),
    ["link.create"],
  ],
  [
    "POST /api/account/password (by a link)",
    () => ask("POST", "/api/account/password", { key: shared.link, password: PASSWORD }, {}),
    ["link.use", "account.password", "sign_in"],
  ],
  ["DELETE /api/v2/users/{name}/", () => ask("DELETE", "/api/v2/users/kim/"), ["account.disable"]],
  [
    "PATCH /api/v2/users/{name}/ (let in)",
    () => ask("PATCH", "/api/v2/users/kim/", { is_active: true }),
    ["account.enable"],
  ],
  [
    "POST /api/v2/tokens/",
    async () => void (shared.token = (await ask("POST", "/api/v2/tokens/", { name: "cron" })).id),
    ["token.create"],
  ],
  ["DELETE /api/v2/tokens/{id}/", () => ask("DELETE", `/api/v2/tokens/${shared.token}/`), ["token.revoke"]],
  [
    "DELETE /api/admin/tokens/{id}",
    async () =>
      ask("DELETE", `/api/admin/tokens/${(await ask("POST", "/api/v2/tokens/", { name: "x" })).id}`),
    ["token.revoke"],
  ],
  [
    "GET by a token",
    async () => {
      const { token } = await ask("POST", "/api/v2/tokens/", { name: "used" });
      await ask("GET", "/api/v2/users/", undefined, { Authorization: `Token ${token}` });
    },
    ["token.create", "token.use"],
  ],

  ["POST /api/v2/groups/", () => ask("POST", "/api/v2/groups/", { name: "Cold" }), ["group.create"]],
  [
    "PATCH /api/v2/groups/{name}/",
    () => ask("PATCH", "/api/v2/groups/Cold/", { description: "Freezers" }),
    ["group.change"],
  ],
  [
    "PUT /api/v2/groups/{name}/",
    () => ask("PUT", "/api/v2/groups/Cold/", { name: "Cold", description: "Ice" }),
    ["group.change"],
  ],
  [
    "POST /api/v2/groups/{name}/members/",
    () => ask("POST", "/api/v2/groups/Cold/members/", ["kim"]),
    ["membership.change"],
  ],
  [
    "PUT /api/v2/groups/{name}/members/",
    () => ask("PUT", "/api/v2/groups/Cold/members/", []),
    ["membership.change"],
  ],
  [
    "PUT /api/v2/groups/{name}/members/{member}/",
    () => ask("PUT", "/api/v2/groups/Cold/members/kim/", {}),
    ["membership.change"],
  ],
  [
    "DELETE /api/v2/groups/{name}/members/{member}/",
    () => ask("DELETE", "/api/v2/groups/Cold/members/kim/"),
    ["membership.change"],
  ],
  [
    "POST /api/v2/groups/{name}/members/{member}/restore/",
    () => ask("POST", "/api/v2/groups/Cold/members/kim/restore/", {}),
    ["membership.change"],
  ],
  [
    "POST /api/v2/groups/{name}/members/{member}/purge/",
    async () => {
      await ask("DELETE", "/api/v2/groups/Cold/members/kim/");
      await ask("POST", "/api/v2/groups/Cold/members/kim/purge/");
    },
    ["membership.change", "membership.change"],
  ],
  ["DELETE /api/v2/groups/{name}/", () => ask("DELETE", "/api/v2/groups/Cold/"), ["group.delete"]],

  ["DELETE /api/v2/projects/{id}/", async () => void (shared.gone = await gone("one")), ["record.delete"]],
  [
    "POST /api/v2/projects/{id}/restore/",
    () => ask("POST", `/api/v2/projects/${shared.gone}/restore/`, {}),
    ["record.restore"],
  ],
  [
    "POST /api/v2/projects/{id}/purge/",
    async () => ask("POST", `/api/v2/projects/${await gone("two")}/purge/`),
    ["record.delete", "record.purge"],
  ],
  [
    "DELETE /api/v2/projects/bulk_delete/",
    async () =>
      ask("DELETE", `/api/v2/projects/bulk_delete/?id=${await record("a")}&id=${await record("b")}`),
    ["record.delete"],
  ],
  [
    "PATCH /api/v2/projects/{id}/permissions/",
    async () => {
      const users = [{ user: "kim", view: true }];
      shared.project = await record("shared");
      await ask("PATCH", `/api/v2/projects/${shared.project}/permissions/`, { users });
    },
    ["permission.change"],
  ],
  [
    "PUT /api/v2/projects/{id}/permissions/",
    () => ask("PUT", `/api/v2/projects/${shared.project}/permissions/`, { users: [] }),
    ["permission.change"],
  ],
  [
    "PATCH /api/v2/projects/permissions/",
    () =>
      ask("PATCH", "/api/v2/projects/permissions/", {
        ids: [shared.project],
        users: [{ user: "kim", view: true }],
      }),
    ["permission.change"],
  ],
  [
    "PUT /api/v2/projects/permissions/",
    () => ask("PUT", "/api/v2/projects/permissions/", { ids: [shared.project], users: [] }),
    ["permission.change"],
  ],
  [
    "PATCH /api/v2/projects/{id}/ (owner)",
    () => ask("PATCH", `/api/v2/projects/${shared.project}/`, { owner: "kim" }),
    ["permission.change"],
  ],
  [
    "POST /api/v2/projects/import/",
    () =>
      ask("POST", "/api/v2/projects/import/", "name\nimported\n", { ...session, "Content-Type": "text/csv" }),
    ["record.import"],
  ],

  ["POST /api/webhooks/", async () => void (shared.hook = (await hook()).id), ["webhook.create"]],
  [
    "POST /api/webhooks/{id}/secret/",
    () => ask("POST", `/api/webhooks/${shared.hook}/secret/`),
    ["webhook.secret"],
  ],
  [
    "POST /api/webhooks/{id}/resume/",
    () => ask("POST", `/api/webhooks/${shared.hook}/resume/`),
    ["webhook.resume"],
  ],
  ["DELETE /api/webhooks/{id}/", () => ask("DELETE", `/api/webhooks/${shared.hook}/`), ["webhook.remove"]],

  [
    "POST /api/admin/corpora",
    async () => ended(await ask("POST", "/api/admin/corpora?name=first", FASTA)),
    ["task.start", "corpus.add"],
  ],
  [
    "POST /api/admin/corpora/{corpus}/verify",
    async () => ended(await ask("POST", "/api/admin/corpora/first/verify")),
    ["task.start"],
  ],
  ["POST /api/admin/corpora/{corpus}/use", () => ask("POST", "/api/admin/corpora/first/use"), ["corpus.use"]],
  [
    "labd corpus add",
    async () => {
      const file = join(place.directory, "second.fasta");
      await Bun.write(file, FASTA.slice(0, FASTA.lastIndexOf(">")));
      await verb("corpus", "add", file, "--name", "second");
    },
    ["corpus.add"],
  ],
  ["labd corpus use", () => verb("corpus", "use", "second"), ["corpus.use"]],
  ["labd corpus remove", () => verb("corpus", "remove", "first"), ["corpus.remove"]],
  ["labd corpus calibrate", () => verb("corpus", "calibrate", "second"), ["corpus.calibrate"]],
  ["DELETE /api/admin/corpora/{corpus}", () => ask("DELETE", "/api/admin/corpora/second"), ["corpus.remove"]],
  [
    "PUT /api/admin/motif-classes",
    () => ask("PUT", "/api/admin/motif-classes?name=elm.tsv", CLASSES),
    ["motif_classes.import"],
  ],
  [
    "DELETE /api/admin/motif-classes",
    () => ask("DELETE", "/api/admin/motif-classes"),
    ["motif_classes.remove"],
  ],
  [
    "labd elm import",
    async () => {
      const file = join(place.directory, "classes.tsv");
      await Bun.write(file, CLASSES);
      await verb("elm", "import", file);
    },
    ["motif_classes.import"],
  ],
  ["labd elm remove", () => verb("elm", "remove"), ["motif_classes.remove"]],
  [
    "DELETE /api/admin/jobs/{id}",
    async () => {
      const ids: string[] = [];
      // The last of them waits while the one worker has the first.
      for (let i = 0; i < 6; i++) {
        const querySequence = decode(randomProtein(random(i), 30_000));
        ids.push((await ask("POST", "/api/scoring/jobs", { querySequence, patterns: ["P..P"] })).id);
      }
      await ask("DELETE", `/api/admin/jobs/${ids.pop()}`);
      for (const id of ids) await ask("DELETE", `/api/scoring/jobs/${id}`).catch(() => undefined);
    },
    ["job.cancel"],
  ],
  [
    "POST /api/admin/backups",
    async () => ended(await ask("POST", "/api/admin/backups")),
    ["task.start", "backup.make"],
  ],
  [
    "POST /api/admin/backups/{name}/verify",
    async () => {
      const { results } = await ask("GET", "/api/admin/backups");
      await ended(await ask("POST", `/api/admin/backups/${results[0].name}/verify`));
    },
    ["task.start"],
  ],
  [
    "POST /api/admin/health/examination",
    async () => void (shared.task = (await ask("POST", "/api/admin/health/examination")).id),
    ["task.start"],
  ],
  ["DELETE /api/admin/tasks/{id}", () => ask("DELETE", `/api/admin/tasks/${shared.task}`), ["task.cancel"]],

  [
    "labd user add",
    () => verb("user", "add", "lee", "--password-stdin", "--group", "New"),
    ["group.create", "account.create"],
  ],
  ["labd user password", () => verb("user", "password", "lee", "--password-stdin"), ["account.password"]],
  [
    "labd user totp --reset",
    async () => {
      await secondFactor(await signIn("lee"));
      await verb("user", "totp", "lee", "--reset");
    },
    ["second_factor.reset"],
  ],
  [
    "labd user link",
    () => verb("user", "link", "lee", "--oidc", "1", "--config", join(place.directory, "provider.toml")),
    ["account.link"],
  ],
  ["labd user unlink", () => verb("user", "unlink", "lee", "--from", "oidc"), ["account.unlink"]],
  ["labd user disable", () => verb("user", "disable", "lee"), ["account.disable"]],
  ["labd user enable", () => verb("user", "enable", "lee"), ["account.enable"]],
  ["labd token add", () => verb("token", "add", "lee"), ["token.create"]],
  ["labd token revoke --user", () => verb("token", "revoke", "--user", "lee"), ["token.revoke"]],
  [
    "labd import",
    async () => {
      const file = join(place.directory, "projects.csv");
      await Bun.write(file, "name\nby the shell\n");
      await verb(
        "import",
        file,
        "--resource",
        "projects",
        "--port",
        new URL(server.url).port,
        "--user",
        "ada",
      );
    },
    ["record.import"],
  ],
  [
    "labd backup --thin",
    () => verb("backup", "--thin", "--backup-keep", "0 days"),
    ["backup.make", "backup.remove"],
  ],
];

/** Operations without an entry, and why. */
const UNTOLD: [what: RegExp, why: string][] = [
  [/^(POST|PUT|PATCH) \/api\/v2\/projects\/(\{id\}\/)?$/, "in the history of the record"],
  [/^(POST|PUT|PATCH) .*\/(annotations|notes)\//, "in the history of the record"],
  [/^(POST|PUT|PATCH) \/api\/v2\/attachments\/(\{id\}\/)?$/, "in the history of the record"],
  [/\/(annotations|notes|attachments|\{grant\})\/.*(restore|purge)\/$/, "as records are: journal-audit.ts"],
  [/^DELETE .*\/(annotations|notes|attachments)\//, "as records are: journal-audit.ts"],
  [/\/permissions\/\{grant\}\/(restore|purge)\/$/, "as rights are: journal-audit.ts"],
  [/^(POST|DELETE) (\/api\/scoring\/|\/soap\/)/, "a job, which is kept itself"],
  [/^POST \/api\/account\/second-factor$/, "counts for nothing until it is confirmed"],
  [
    /^POST \/api\/webhooks\/\{id\}\/(ping|deliveries\/\{delivery\}\/redeliver)\/$/,
    "in the log of deliveries",
  ],
];

test.each(OPERATIONS)(
  "%s",
  async (what, does, leaves) => {
    // The entries of tasks that ended before may still be on their way.
    const before = lastSeq();
    await does();
    const noted = entriesAfter(before);
    const found = noted.map(({ action }) => action);
    // What it needed first may have left others: a sign-in, a deletion.
    for (const action of leaves)
      expect({ what, found }).toMatchObject({ found: expect.arrayContaining([action]) });
    const own = noted.filter(({ action }) => leaves.includes(action));
    expect(own.length).toBeGreaterThanOrEqual(leaves.length);
    for (const { actor, via, outcome, detail } of own) {
      expect(outcome).toBe("done");
      // An import has the rights of the account that it names, by a token of a moment.
      const known = /^labd (?!import)/.test(what)
        ? via === "command line" && /^uid:\d+$/.test(actor ?? "")
        : via === "command line"
          ? // What a task does.
            /^uid:\d+ on behalf of ada$/.test(actor ?? "")
          : // Who sets a password by a link is nobody yet.
            actor !== null || /setup|link/.test(what);
      expect({ what, actor, via, known }).toMatchObject({ known: true });
      expect(detail).not.toMatch(/a long password|SECRET|whsec_|labd_[\w-]{20}/);
    }
  },
  300_000,
);

test("every operation of the interface that changes something is above, or has a reason not to be", async () => {
  const document = JSON.parse((await labd(["openapi"])).stdout) as { paths: Record<string, Parsed> };
  const done = new Set(OPERATIONS.map(([what]) => what.replace(/ \(.*\)$/, "")));
  const missing: string[] = [];
  for (const [path, methods] of Object.entries(document.paths)) {
    // All lists are made of the same declaration: one stands for them.
    const isList =
      path.startsWith("/api/v2/") &&
      !/^\/api\/v2\/(users|groups|tokens|session|token-auth|attachments)\//.test(path);
    if (isList && !path.startsWith("/api/v2/projects/")) continue;
    for (const method of Object.keys(methods)) {
      const what = `${method.toUpperCase()} ${path}`;
      if (method === "get" || done.has(what) || UNTOLD.some(([rule]) => rule.test(what))) continue;
      missing.push(what);
    }
  }
  expect(missing).toEqual([]);
});

test("on whose behalf a command runs is what the log says of its task, and nothing that somebody claims", async () => {
  const backedUp = async (task: string): Promise<string | null> => {
    const before = lastSeq();
    const words = ["backup", ...on];
    expect((await labd(words, { env: { LABD_TASK: task } })).code).toBe(0);
    return entriesAfter(before).find(({ action }) => action === "backup.make")!.actor;
  };
  for (const claimed of ["ada", crypto.randomUUID(), "' OR 1 --"])
    expect(await backedUp(claimed)).toMatch(/^uid:\d+$/);
  const behalf = await ask("GET", "/api/admin/audit/?actor=ada&action=backup.make");
  expect(behalf.results[0].actor).toMatch(/^uid:\d+ on behalf of ada$/);
  for (const other of ["ad", "da", "_da", "%25"])
    expect((await ask("GET", `/api/admin/audit/?actor=${other}&action=backup.make`)).results).toEqual([]);
});

test("a restore names the backup, and where the log before ended", async () => {
  const head = lastSeq();
  await server.end("SIGTERM");
  const backups = join(place.directory, "backups");
  const manifest = readdirSync(backups).find((name) => name.endsWith(".json"))!;
  database.close();
  await verb("restore", join(backups, manifest));
  database = new Database(join(place.directory, "labd.sqlite"), { readonly: true });
  const [entry] = database.query("SELECT * FROM audit ORDER BY seq DESC LIMIT 1").all() as Entry[];
  expect(entry).toMatchObject({ action: "backup.restore", via: "command line" });
  expect(JSON.parse(entry.detail).former_head.seq).toBeGreaterThan(head);
  // What a service was started with, such as where backups go and how long they are kept.
  await using _again = await serve(place.directory, [
    "--backup-keep",
    "3 days",
    "--metrics-token",
    "SECRET-of-16-characters",
  ]);
  const [started] = database.query("SELECT * FROM audit ORDER BY seq DESC LIMIT 1").all() as Entry[];
  expect(started).toMatchObject({ action: "service.start", via: "service" });
  expect(JSON.parse(started.detail).settings).toMatchObject({
    backup_keep: "3 days",
    metrics_token: "********",
  });
  expect((await labd(["audit", "verify", ...on])).code).toBe(0);
}, 300_000);
