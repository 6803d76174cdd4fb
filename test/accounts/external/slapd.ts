import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "bun:test";
import { certify } from "../../executable/certificate.ts";
import { waitFor } from "../../wait.ts";

/** A real slapd of the test's own: mdb in a scratch folder, ldap, ldaps, ldapi and StartTLS on free ports. */

const find = (name: string): string | null =>
  Bun.which(name) ??
  [`/usr/sbin/${name}`, `/usr/local/sbin/${name}`].find((path) => existsSync(path)) ??
  null;
const SLAPD = find("slapd");
const SLAPADD = find("slapadd");
const SCHEMAS = "/etc/ldap/schema";
const missing = [
  [SCHEMAS, existsSync(SCHEMAS) ? SCHEMAS : null],
  ["slapd", SLAPD],
  ["slapadd", SLAPADD],
  ["ldapmodify", Bun.which("ldapmodify")],
  ["openssl", Bun.which("openssl")],
].flatMap(([name, path]) => (path === null ? [name] : []));
if (missing.length > 0)
  process.stderr.write(
    `TESTS WITH LDAP ARE SKIPPED: no ${missing.join(", no ")} (slapd and ldap-utils of Debian).\n`,
  );

export const hasSlapd = missing.length === 0;
/** Like `test`; skipped where there is no slapd, which takes seconds to stop on a busy machine. */
export const ldapTest = (name: string, run: () => Promise<void>, timeout = 60_000): void =>
  test.skipIf(!hasSlapd)(name, run, timeout);

export const BASE = "dc=lab,dc=example";
export const ADMIN_DN = `cn=admin,${BASE}`;
export const READER_DN = `cn=reader,${BASE}`;
export const SECRET = "reader's secret";

const encoded = (text: string): string =>
  /^[\x20-\x7e]*$/.test(text) ? `: ${text}` : `:: ${Buffer.from(text).toString("base64")}`;

/** kim and lee in groups, max outside of all, and somebody with characters that mean something to filters and DNs. */
const tree = (): string => `dn: ${BASE}
objectClass: dcObject
objectClass: organization
o: Lab
dc: lab

dn: cn=reader,${BASE}
objectClass: organizationalRole
objectClass: simpleSecurityObject
cn: reader
userPassword: ${SECRET}

dn: ou=people,${BASE}
objectClass: organizationalUnit
ou: people

dn: ou=groups,${BASE}
objectClass: organizationalUnit
ou: groups

${person("kim", "Kim Kuhn", "kim@lab.example")}
${person("lee", "Lee Lang", "lee@lab.example")}
${person("max", "Max Moser", "")}
${person("o'brien(x)*", "Odd, Name", "")}
${person("smith, j", "J. Smith", "")}
${person("müller", "Jürgen Müller", "mueller@lab.example")}
${group("labd-users", "kim", "lee")}
${group("labd-admins", "lee")}
${group("genomics", "kim", "o'brien(x)*", "smith, j")}
`;

/** The distinguished name of a person: commas and the like in a name are escaped (RFC 4514). */
export const toDn = (uid: string): string => `uid=${uid.replace(/[,+"\\<>;=]/g, "\\$&")},ou=people,${BASE}`;

export function person(uid: string, name: string, mail: string, password = `${uid}'s password`): string {
  return [
    `dn${encoded(toDn(uid))}`,
    "objectClass: inetOrgPerson",
    `uid${encoded(uid)}`,
    `cn${encoded(name)}`,
    `sn${encoded(name.split(" ").at(-1)!)}`,
    ...(mail === "" ? [] : [`mail: ${mail}`]),
    `userPassword${encoded(password)}`,
    "",
  ].join("\n");
}

function group(name: string, ...members: string[]): string {
  return [
    `dn: cn=${name},ou=groups,${BASE}`,
    "objectClass: groupOfNames",
    `cn: ${name}`,
    ...members.map((uid) => `member${encoded(toDn(uid))}`),
    "",
  ].join("\n");
}

export interface Directory extends AsyncDisposable {
  plain: string;
  secure: string;
  /** ldapi:// and the path of the socket, encoded. */
  socket: string;
  /** File of the authority that signed the certificate. */
  authority: string;
  /** Of another authority. */
  stranger: string;
  /** Changes entries, as LDIF with changetype. */
  modify(ldif: string): Promise<void>;
  kill(): Promise<void>;
  /** Stops answering without closing what is open. */
  freeze(): Promise<void>;
  thaw(): void;
  start(): Promise<void>;
}

async function run(words: string[], stdin = ""): Promise<void> {
  const child = Bun.spawn(words, { stdin: new Blob([stdin]), stdout: "pipe", stderr: "pipe" });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(`${words[0]}: ${out}${err}`);
}

/** One that nobody listens on now, and that the system gives nobody else while its server restarts. */
export function freePort(): number {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    try {
      Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } }).stop(true);
      return port;
    } catch {
      // Somebody listens on it.
    }
  }
}

/** Stops a process, and waits until its last thread has noticed: until then it may still answer. */
async function freeze(child: Bun.Subprocess): Promise<void> {
  child.kill("SIGSTOP");
  const threads = `/proc/${child.pid}/task`;
  const isRunning = (thread: string): boolean =>
    !/\) T /.test(readFileSync(`${threads}/${thread}/stat`, "utf8"));
  await waitFor(() => !existsSync(threads) || !readdirSync(threads).some(isRunning));
}

/** Starts one, with what `tree` says in it. */
export async function openDirectory(): Promise<Directory> {
  const directory = mkdtempSync(join(tmpdir(), "labd-slapd-"));
  const at = (file: string): string => join(directory, file);
  mkdirSync(at("db"));
  for (const name of ["own", "stranger"]) certify(directory, name);
  const schemas = ["core", "cosine", "inetorgperson"].map((name) => `include ${SCHEMAS}/${name}.schema`);
  writeFileSync(
    at("slapd.conf"),
    `${schemas.join("\n")}
pidfile ${at("slapd.pid")}
modulepath /usr/lib/ldap
moduleload back_mdb
TLSCACertificateFile ${at("own-ca.pem")}
TLSCertificateFile ${at("own-cert.pem")}
TLSCertificateKeyFile ${at("own-key.pem")}
database mdb
maxsize 16777216
suffix "${BASE}"
rootdn "${ADMIN_DN}"
rootpw admin
directory ${at("db")}
dbnosync
access to attrs=userPassword by anonymous auth by * none
access to * by dn.exact="${READER_DN}" read by anonymous auth by * none
`,
  );
  await run([SLAPADD!, "-f", at("slapd.conf")], tree());
  const [plain, secure] = [freePort(), freePort()];
  const socket = `ldapi://${encodeURIComponent(at("ldapi"))}`;
  let child: Bun.Subprocess | undefined;
  const start = async (): Promise<void> => {
    child = Bun.spawn(
      [
        SLAPD!,
        "-d",
        "0",
        "-f",
        at("slapd.conf"),
        "-h",
        `ldap://127.0.0.1:${plain}/ ldaps://127.0.0.1:${secure}/ ${socket}`,
      ],
      { stdin: "ignore", stdout: "ignore", stderr: "ignore" },
    );
    const isUp = (): Promise<boolean> =>
      Bun.connect({ hostname: "127.0.0.1", port: plain, socket: { data() {} } }).then(
        (open) => (open.end(), true),
        () => false,
      );
    const started = child;
    await waitFor(async () => started.exitCode !== null || (await isUp()));
    if (started.exitCode !== null) throw new Error(`slapd ended with ${started.exitCode}`);
  };
  const kill = async (): Promise<void> => {
    child?.kill("SIGKILL");
    await child?.exited;
  };
  await start();
  return {
    plain: `ldap://127.0.0.1:${plain}`,
    secure: `ldaps://localhost:${secure}`,
    socket,
    authority: at("own-ca.pem"),
    stranger: at("stranger-ca.pem"),
    modify: (ldif) =>
      run(["ldapmodify", "-x", "-H", `ldap://127.0.0.1:${plain}`, "-D", ADMIN_DN, "-w", "admin"], ldif),
    kill,
    freeze: () => freeze(child!),
    thaw: () => child?.kill("SIGCONT"),
    start,
    async [Symbol.asyncDispose]() {
      await kill();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
