import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { shownCode } from "../fixtures/authenticator.ts";
import { labd, scratch, serve } from "./labd.ts";
import { waitFor } from "../wait.ts";

/** Uses everything that has a secret, then searches all output for the secrets. */

// oxlint-disable-next-line no-explicit-any
type Parsed = Record<string, any>;

const PASSWORD = "MARK-password of ada";
const ACCOUNT = { username: "ada", password: PASSWORD };

/** Outputs where a secret may appear, and why. */
const ALLOWED: Record<string, string[]> = {
  // The first administrator signs in with it; it works once, and only while there are no users.
  "setup key": ["log"],
  // Its owner and administrators may read it.
  "webhook URL": ["database", "backup", "HTTP", "command line"],
};

const newSecrets = (): Record<string, string> => ({
  "password of ada": PASSWORD,
  "wrong password": "MARK-wrong-password",
  "password typed as user name": "MARK-typed-in-the-wrong-field",
  "invalid token": "labd_MARK-0123456789012345678901234567890",
  ldap_bind_password: "MARK-ldap-bind",
  oidc_client_secret: "MARK-oidc-client",
  queue: "MARK-queue-password",
  smtp_url: "MARK-smtp-password",
  s3_secret_key: "MARK-s3-secret",
  metrics_token: "MARK-metrics-token",
  "webhook URL": "MARK-in-the-address",
});

type Secrets = ReturnType<typeof newSecrets>;

/** Everything that labd wrote, by kind of output. */
class Outputs {
  readonly texts = new Map<string, string[]>();

  add(output: string, text: string): void {
    this.texts.set(output, [...(this.texts.get(output) ?? []), text]);
  }

  text(output: string): string {
    return this.texts.get(output)?.join("") ?? "";
  }

  /** Descriptions of secrets in outputs where they are not allowed. */
  leaks(secrets: Secrets): string[] {
    const places = [...this.texts].flatMap(([output, texts]) => texts.map((text) => ({ output, text })));
    return Object.entries(secrets).flatMap(([name, secret]) =>
      places
        .filter(({ output }) => !ALLOWED[name]?.includes(output))
        .flatMap(({ output, text }) =>
          encodings(name, secret)
            .map((encoded) => text.indexOf(encoded))
            .filter((at) => at >= 0)
            .map((at) => `${name} in ${output}: …${text.slice(Math.max(0, at - 80), at + 20)}…`),
        ),
    );
  }
}

function encodings(name: string, secret: string): string[] {
  const encoded = [secret, encodeURIComponent(secret), btoa(`ada:${secret}`)];
  if (name.startsWith("webhook secret")) encoded.push(Buffer.from(secret, "base64").toString("latin1"));
  return encoded;
}

/** Backup store, OIDC provider and webhook receiver: rejects every request and repeats it in the response. */
function openEchoServer() {
  const [backupStarted, backupAllowed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname.startsWith("/lab-backups")) {
        backupStarted.resolve();
        await backupAllowed.promise;
      }
      const headers = [...request.headers].map(([name, value]) => `${name}: ${value}`).join("; ");
      const text = `<Error><Code>Teapot</Code><Message>${pathname} ${headers}</Message></Error>`;
      return new Response(text, { status: 403 });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    backupStarted: backupStarted.promise,
    allowBackup: backupAllowed.resolve,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

/** Settings with secrets. Nothing listens on port 1. */
function settings(secrets: Secrets, echoUrl: string): string {
  const values = {
    smtp_url: `smtp://labd:${secrets.smtp_url}@127.0.0.1:1?from=labd@lab.example`,
    queue: `redis://bob:${secrets.queue}@127.0.0.1:1/0`,
    ldap_url: "ldap://127.0.0.1:1",
    ldap_bind_dn: "cn=reader",
    ldap_bind_password: secrets.ldap_bind_password,
    ldap_user_base: "ou=people,dc=lab,dc=example",
    oidc_issuer: echoUrl,
    oidc_client_id: "labd",
    oidc_client_secret: secrets.oidc_client_secret,
    backup_dir: "s3://lab-backups/labd",
    backup_hours: 0,
    s3_endpoint: echoUrl,
    s3_access_key: "access",
    s3_secret_key: secrets.s3_secret_key,
    metrics_token: secrets.metrics_token,
    webhook_allow: "127.0.0.0/8",
    public_url: "http://lab.example",
  };
  return Object.entries(values)
    .map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
    .join("\n");
}

/** A client whose responses are outputs, except those that issue a secret. */
class Client {
  session: Record<string, string> = {};

  constructor(
    readonly url: string,
    readonly outputs: Outputs,
  ) {}

  #fetch(method: string, path: string, body: unknown, headers: Record<string, string>): Promise<Response> {
    return fetch(this.url + path, {
      method,
      redirect: "manual",
      headers: { "Content-Type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
  }

  /** A request whose response shows a secret once. */
  async issue(path: string, body?: unknown): Promise<Parsed> {
    const response = await this.#fetch("POST", path, body, this.session);
    expect({ path, ok: response.ok }).toEqual({ path, ok: true });
    const cookie = response.headers.get("set-cookie")?.split(";")[0];
    const parsed = (await response.json().catch(() => ({}))) as Parsed;
    if (cookie)
      this.session = { Cookie: cookie, "X-CSRFToken": parsed.csrf_token, Origin: "http://lab.example" };
    return parsed;
  }

  async get(path: string, headers = this.session): Promise<Parsed> {
    return this.#request("GET", path, undefined, headers);
  }

  async post(path: string, body?: unknown, headers = this.session): Promise<Parsed> {
    return this.#request("POST", path, body, headers);
  }

  async #request(
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string>,
  ): Promise<Parsed> {
    const response = await this.#fetch(method, path, body, headers);
    const text = await response.text();
    this.outputs.add("HTTP", `${response.status} ${JSON.stringify([...response.headers])} ${text}`);
    const isJson = /^application\/json\b/.test(response.headers.get("content-type") ?? "");
    return isJson ? (JSON.parse(text) as Parsed) : {};
  }
}

/** Creates an administrator, a token, a webhook, a second factor and a password link. @returns the webhook's id */
async function issueSecrets(client: Client, secrets: Secrets, echoUrl: string): Promise<string> {
  await client.issue("/api/setup", {
    key: secrets["setup key"],
    ...ACCOUNT,
    email: "ada@lab.example",
  });
  await client.issue("/api/v2/session/", ACCOUNT);
  secrets.session = client.session.Cookie.split("=")[1];
  secrets.token = (await client.issue("/api/v2/token-auth/", ACCOUNT)).token;
  const webhook = await client.issue("/api/webhooks/", {
    url: `${echoUrl}/hook?key=${secrets["webhook URL"]}`,
  });
  const rotated = await client.issue(`/api/webhooks/${webhook.id}/secret/`, {});
  secrets["webhook secret 1"] = webhook.secret.slice(6);
  secrets["webhook secret 2"] = rotated.secret.slice(6);
  const { secret } = await client.issue("/api/account/second-factor");
  secrets["second factor"] = secret;
  const confirmed = await client.issue("/api/account/second-factor/confirm", { code: shownCode(secret) });
  for (const [index, code] of confirmed.recovery_codes.entries()) secrets[`recovery code ${index}`] = code;
  await client.issue("/api/v2/users/", { username: "kim", password: PASSWORD });
  const link = await client.issue("/api/admin/users/kim/password-link");
  secrets["password link"] = /key=(\S+)/.exec(link.url)![1];
  return webhook.id;
}

/** Sends secrets in requests that fail. */
async function sendRejected(client: Client, secrets: Secrets, webhook: string): Promise<void> {
  const wrong = secrets["wrong password"];
  const typed = secrets["password typed as user name"];
  for (const body of [
    { username: "ada", password: wrong },
    { username: typed, password: wrong },
    `{"username": "ada", "password": "${wrong}`,
    { username: "ada", password: [wrong], [typed]: 1 },
  ])
    await client.post("/api/v2/token-auth/", body, {});
  await client.post("/api/v2/session/", { ...ACCOUNT, code: `${secrets["recovery code 0"]}x` }, {});
  for (const Authorization of [
    `Token ${secrets["invalid token"]}`,
    `Basic ${btoa(`ada:${wrong}`)}`,
    `Bearer ${wrong}`,
  ])
    await client.get("/api/v2/locations/", { Authorization });
  await client.post("/api/v2/locations/", { label: "Rack" }, { Authorization: `Token ${secrets.token}` });
  await client.get(`/api/v2/session/?next=/&password=${wrong}`, {});
  await client.get("/api/oidc/sign-in", {});
  const { code } = await client.post("/api/admin/reminders/test");
  expect(code).toBe("email_failed");
  await client.post(`/api/webhooks/${webhook}/ping/`);
  await client.get(`/api/webhooks/${webhook}/deliveries/`);
}

/** Requests all documented GET routes without parameters, pages, metrics and the audit log. */
async function readEverything(client: Client, secrets: Secrets): Promise<void> {
  const { paths } = (await client.get("/docs/json")) as { paths: Record<string, Parsed> };
  const readable = Object.entries(paths).filter(([path, { get }]) => get && !/[{]|events/.test(path));
  expect(readable.length).toBeGreaterThan(20);
  for (const [path] of readable) await client.get(path);
  for (const path of ["/", "/profile", "/sign-in", "/metrics", "/administration", "/administration/audit"])
    await client.get(path);
  await client.get("/metrics", { Authorization: `Bearer ${secrets.metrics_token}` });
  await client.get("/api/admin/audit/", { ...client.session, Accept: "application/x-ndjson" });
}

const COMMANDS = `check, doctor, doctor --format json, farm status, backup, backup --list,
  webhook list --json, token list, user list, audit verify`.split(/,\s+/);

/** Runs commands that read the data directory; makes a backup in `backups`. */
async function runCommands(outputs: Outputs, flags: readonly string[], backups: string): Promise<void> {
  const run = async (...words: string[]): Promise<string> => {
    const { stdout, stderr } = await labd([...words, ...flags]);
    outputs.add("command line", stdout + stderr);
    return stdout;
  };
  for (const command of COMMANDS) await run(...command.split(" "));
  outputs.add("export", await run("audit", "export"));
  const manifest = (await run("backup", "--to", backups)).split("\n")[0];
  outputs.add("manifest", readFileSync(manifest, "utf8"));
  const packed = await Bun.file(manifest.replace(/\.json$/, ".sqlite.zst")).bytes();
  outputs.add("backup", Buffer.from(await Bun.zstdDecompress(packed)).toString("latin1"));
}

/** Arguments of a process and its descendants. */
function readArguments(pid: number): string {
  /** Threads and processes may end at any time. */
  const ifAlive = <T>(read: () => T, otherwise: T): T => {
    try {
      return read();
    } catch {
      return otherwise;
    }
  };
  const read = (path: string): string => ifAlive(() => readFileSync(`/proc/${pid}/${path}`, "utf8"), "");
  const children = ifAlive(() => readdirSync(`/proc/${pid}/task`), [])
    .map((task) => read(`task/${task}/children`))
    .join(" ");
  const descendants = (children.match(/\d+/g) ?? []).map((child) => readArguments(Number(child)));
  return [read("cmdline").replaceAll("\0", " "), ...descendants].join("\n");
}

test("no secret appears in logs, responses, exports, files or process arguments", async () => {
  using place = scratch();
  using elsewhere = scratch();
  const secrets = newSecrets();
  const outputs = new Outputs();
  await using echo = openEchoServer();
  const file = join(elsewhere.directory, "labd.toml");
  await Bun.write(file, settings(secrets, echo.url));
  const config = ["--config", file];

  await using server = await serve(place.directory, config);
  await waitFor(() => server.log().includes("/setup?key="));
  secrets["setup key"] = /\/setup\?key=(\S+)/.exec(server.log())![1];
  const client = new Client(server.url, outputs);
  const webhook = await issueSecrets(client, secrets, echo.url);
  await sendRejected(client, secrets, webhook);
  const task = await client.post("/api/admin/backups");
  await echo.backupStarted;
  if (process.platform === "linux") {
    const processArguments = readArguments(server.process.pid);
    expect(processArguments.split("\n").length).toBeGreaterThan(1);
    outputs.add("arguments", processArguments);
  }
  echo.allowBackup();
  await waitFor(async () => (await client.get(`/api/admin/tasks/${task.id}`)).state !== "running");
  await readEverything(client, secrets);
  await runCommands(outputs, ["--data-dir", place.directory, ...config], elsewhere.directory);
  for (const name of ["labd.sqlite", "labd.sqlite-wal"])
    outputs.add("database", readFileSync(join(place.directory, name), "latin1"));
  expect(await server.end("SIGTERM")).toBe(0);
  outputs.add("log", server.log());

  // Proves that the outputs are complete enough to find secrets in.
  expect(outputs.text("log")).toContain(secrets["setup key"]);
  expect(outputs.text("database")).toContain(secrets["webhook URL"]);
  for (const output of ["log", "HTTP", "export", "manifest", "backup", "database"])
    expect({ output, isLong: outputs.text(output).length > 500 }).toEqual({ output, isLong: true });
  for (const [name, secret] of Object.entries(secrets))
    expect({ name, isLong: typeof secret === "string" && secret.length >= 10 }).toEqual({
      name,
      isLong: true,
    });
  expect(outputs.leaks(secrets)).toEqual([]);
}, 120_000);
