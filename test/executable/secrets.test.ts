import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { shownCode } from "../fixtures/authenticator.ts";
import { labd, scratch, serve } from "./labd.ts";

/** A tour through all that has a secret, each of them marked; then they are looked for wherever something is written. */

// As JSON comes.
// oxlint-disable-next-line no-explicit-any
type Parsed = Record<string, any>;

const PASSWORD = "MARK-password of ada";

/** Bytes as text, one character each. */
const bytesOf = (path: string): string => readFileSync(path, "latin1");

/** Where a secret may be read, and why. */
const MAY: Record<string, string[]> = {
  // It is how the first administrator gets in, is good once, and for nothing as soon as there is one.
  "key of set-up": ["log"],
  // labd has to call it. For its owner and administrators, as docs/operations.md says.
  "address of webhook": ["database", "backup", "interface", "command line"],
};

const keyOf = (url: string): string => /key=(\S+)/.exec(url)![1];

/** The arguments of a process and of all that it began. */
function argumentsOf(pid: number): string {
  /** Empty for a thread or a process that has ended since it was listed. */
  const unless = <T>(ended: T, look: () => T): T => {
    try {
      return look();
    } catch {
      return ended;
    }
  };
  const read = (path: string): string => unless("", () => readFileSync(`/proc/${pid}/${path}`, "utf8"));
  const children = unless([], () => readdirSync(`/proc/${pid}/task`))
    .map((task) => read(`task/${task}/children`))
    .join(" ");
  const own = read("cmdline").replaceAll("\0", " ");
  return [own, ...(children.match(/\d+/g) ?? []).map((child) => argumentsOf(Number(child)))].join("\n");
}

test("no secret appears in logs, responses, exports, files or process arguments", async () => {
  using place = scratch();
  using elsewhere = scratch();
  const on = ["--data-dir", place.directory];
  const secrets: Record<string, string> = {
    "password of ada": PASSWORD,
    "wrong password": "MARK-wrong-password",
    "password in the field of the name": "MARK-typed-in-the-wrong-field",
    "token that is none": "labd_MARK-0123456789012345678901234567890",
    ldap_bind_password: "MARK-ldap-bind",
    oidc_client_secret: "MARK-oidc-client",
    queue: "MARK-queue-password",
    s3_secret_key: "MARK-s3-secret",
    metrics_token: "MARK-metrics-token",
    "address of webhook": "MARK-in-the-address",
  };
  const seen: Record<string, string[]> = {};
  const note = (where: string, text: string): void => void (seen[where] ??= []).push(text);

  // A store, a provider and a receiver that refuse, and repeat to the caller what it sent.
  const [asked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await using stub = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname.startsWith("/lab-backups")) {
        asked.resolve();
        await released.promise;
      }
      const repeated = [...request.headers].map(([name, value]) => `${name}: ${value}`).join("; ");
      const text = `<Error><Code>Teapot</Code><Message>${pathname} ${repeated}</Message></Error>`;
      return new Response(text, { status: 403 });
    },
  });
  const base = `http://127.0.0.1:${stub.port}`;
  // Where nothing listens: port 1 is taken by nobody.
  const file = join(elsewhere.directory, "labd.toml");
  const settings = {
    queue: `redis://bob:${secrets.queue}@127.0.0.1:1/0`,
    ldap_url: "ldap://127.0.0.1:1",
    ldap_bind_dn: "cn=reader",
    ldap_bind_password: secrets.ldap_bind_password,
    ldap_user_base: "ou=people,dc=lab,dc=example",
    oidc_issuer: base,
    oidc_client_id: "labd",
    oidc_client_secret: secrets.oidc_client_secret,
    backup_dir: "s3://lab-backups/labd",
    backup_hours: 0,
    s3_endpoint: base,
    s3_access_key: "access",
    s3_secret_key: secrets.s3_secret_key,
    metrics_token: secrets.metrics_token,
    webhook_allow: "127.0.0.0/8",
    public_url: "http://lab.example",
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
  await Bun.write(file, lines.join("\n"));
  const config = ["--config", file];

  await using server = await serve(place.directory, config);
  while (!server.log().includes("/setup?key=")) await Bun.sleep(10);
  secrets["key of set-up"] = /\/setup\?key=(\S+)/.exec(server.log())![1];
  let session: Record<string, string> = {};
  const call = async (method: string, path: string, body?: unknown, headers = session): Promise<Response> =>
    fetch(server.url + path, {
      method,
      redirect: "manual",
      headers: { "Content-Type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
  /** What is shown once is not noted. */
  const shown = async (method: string, path: string, body?: unknown): Promise<Parsed> => {
    const response = await call(method, path, body);
    expect({ path, ok: response.ok }).toEqual({ path, ok: true });
    const cookie = response.headers.get("set-cookie")?.split(";")[0];
    const parsed = (await response.json().catch(() => ({}))) as Parsed;
    if (cookie) session = { Cookie: cookie, "X-CSRFToken": parsed.csrf_token, Origin: "http://lab.example" };
    return parsed;
  };
  const told = async (method: string, path: string, body?: unknown, headers = session): Promise<Parsed> => {
    const response = await call(method, path, body, headers);
    const text = await response.text();
    note("interface", `${response.status} ${JSON.stringify([...response.headers])} ${text}`);
    const isJson = /^application\/json\b/.test(response.headers.get("content-type") ?? "");
    return isJson ? (JSON.parse(text) as Parsed) : {};
  };

  const account = { username: "ada", password: PASSWORD };
  await shown("POST", "/api/setup", { key: secrets["key of set-up"], ...account });
  await shown("POST", "/api/v2/session/", account);
  secrets.session = session.Cookie.split("=")[1];
  secrets.token = (await shown("POST", "/api/v2/token-auth/", account)).token;
  const address = `${base}/hook?key=${secrets["address of webhook"]}`;
  const hook = await shown("POST", "/api/webhooks/", { url: address });
  const rotated = await shown("POST", `/api/webhooks/${hook.id}/secret/`, {});
  secrets["first secret of webhook"] = hook.secret.slice(6);
  secrets["second secret of webhook"] = rotated.secret.slice(6);
  const { secret } = await shown("POST", "/api/account/second-factor");
  secrets["second factor"] = secret;
  const code = shownCode(secret);
  const recovery = (await shown("POST", "/api/account/second-factor/confirm", { code }))
    .recovery_codes as string[];
  for (const [index, one] of recovery.entries()) secrets[`recovery code ${index}`] = one;
  await shown("POST", "/api/v2/users/", { username: "kim", password: PASSWORD });
  secrets["link for a password"] = keyOf((await shown("POST", "/api/admin/users/kim/password-link")).url);

  // What is refused.
  const wrong = secrets["wrong password"];
  const typed = secrets["password in the field of the name"];
  await told("POST", "/api/v2/token-auth/", { username: "ada", password: wrong }, {});
  await told("POST", "/api/v2/token-auth/", { username: typed, password: wrong }, {});
  await told("POST", "/api/v2/token-auth/", `{"username": "ada", "password": "${wrong}`, {});
  await told("POST", "/api/v2/token-auth/", { username: "ada", password: [wrong], [typed]: 1 }, {});
  await told("POST", "/api/v2/session/", { ...account, code: secrets["recovery code 0"] + "x" }, {});
  for (const given of [
    `Token ${secrets["token that is none"]}`,
    `Basic ${btoa(`ada:${wrong}`)}`,
    `Bearer ${wrong}`,
  ])
    await told("GET", "/api/v2/locations/", undefined, { Authorization: given });
  await told("POST", "/api/v2/locations/", { label: "Rack" }, { Authorization: `Token ${secrets.token}` });
  await told("GET", `/api/v2/session/?next=/&password=${wrong}`, undefined, {});
  await told("GET", "/api/oidc/sign-in", undefined, {});
  await told("POST", `/api/webhooks/${hook.id}/ping/`);
  await told("GET", `/api/webhooks/${hook.id}/deliveries/`);
  const task = await told("POST", "/api/admin/backups");
  await asked.promise;
  if (process.platform === "linux") {
    const all = argumentsOf(server.process.pid);
    expect(all.split("\n").length).toBeGreaterThan(1);
    note("arguments", all);
  }
  released.resolve();
  while ((await told("GET", `/api/admin/tasks/${task.id}`)).state === "running") await Bun.sleep(20);

  // What can be read.
  const document = (await (await call("GET", "/docs/json")).json()) as { paths: Record<string, Parsed> };
  const paths = Object.entries(document.paths).filter(([path, { get }]) => get && !/[{]|events/.test(path));
  expect(paths.length).toBeGreaterThan(20);
  for (const [path] of paths) await told("GET", path);
  for (const path of ["/", "/profile", "/sign-in", "/metrics", "/administration", "/administration/audit"])
    await told("GET", path);
  await told("GET", "/metrics", undefined, { Authorization: `Bearer ${secrets.metrics_token}` });
  await told("GET", "/api/admin/audit/", undefined, { ...session, Accept: "application/x-ndjson" });

  const run = async (...words: string[]): Promise<string> => {
    const { stdout, stderr } = await labd([...words, ...on, ...config]);
    note("command line", stdout + stderr);
    return stdout;
  };
  for (const words of ["check", "doctor", "doctor --format json", "farm status", "backup", "backup --list"])
    await run(...words.split(" "));
  for (const words of ["webhook list --json", "token list", "user list", "audit verify"])
    await run(...words.split(" "));
  note("export", (await labd(["audit", "export", ...on])).stdout);
  const manifest = (await run("backup", "--to", elsewhere.directory)).split("\n")[0];
  note("manifest", readFileSync(manifest, "utf8"));
  const packed = await Bun.file(manifest.replace(/\.json$/, ".sqlite.zst")).bytes();
  note("backup", Buffer.from(await Bun.zstdDecompress(packed)).toString("latin1"));
  for (const name of ["labd.sqlite", "labd.sqlite-wal"])
    note("database", bytesOf(join(place.directory, name)));
  expect(await server.end("SIGTERM")).toBe(0);
  note("log", server.log());

  // Each was there: a tour that did nothing would find nothing.
  expect(seen.log[0]).toContain(secrets["key of set-up"]);
  expect(seen.database.join("")).toContain(secrets["address of webhook"]);
  for (const name of ["log", "interface", "export", "manifest", "backup", "database"])
    expect({ name, size: seen[name].join("").length > 500 }).toEqual({ name, size: true });
  const found: string[] = [];
  for (const [name, value] of Object.entries(secrets)) {
    expect({ name, isOne: typeof value === "string" && value.length >= 10 }).toEqual({ name, isOne: true });
    const forms = [value, encodeURIComponent(value), btoa(`ada:${value}`)];
    if (/secret of webhook/.test(name)) forms.push(Buffer.from(value, "base64").toString("latin1"));
    for (const [where, texts] of Object.entries(seen)) {
      if (MAY[name]?.includes(where)) continue;
      for (const text of texts)
        for (const form of forms) {
          const at = text.indexOf(form);
          if (at >= 0) found.push(`${name} in ${where}: …${text.slice(Math.max(0, at - 80), at + 20)}…`);
        }
    }
  }
  expect(found).toEqual([]);
}, 120_000);
