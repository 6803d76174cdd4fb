import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, chmodSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Attribute, Change, Client } from "ldapts";
import { type Hosts, makeHosts, whyNoHosts } from "../../executable/network-hosts.ts";
import { certify } from "../../executable/certificate.ts";

/**
 * A real domain controller of Active Directory of the test's own: Samba (samba, samba-dsdb-modules and
 * samba-ad-provision of Debian), one process that answers LDAP alone, on a machine of its own, since its ports are fixed.
 */

const PATH = `${process.env.PATH}:/usr/sbin:/sbin`;
const SCHEMA = "/usr/share/samba/setup/ad-schema";

/** Why there can be none here; null where there can. */
export async function whyNoActiveDirectory(): Promise<string | null> {
  const missing = ["samba", "samba-tool", "openssl"].filter((name) => !Bun.which(name, { PATH }));
  if (!existsSync(SCHEMA)) missing.push(SCHEMA);
  if (missing.length > 0)
    return `${missing.join(", ")} missing: apt-get install samba samba-dsdb-modules samba-ad-provision`;
  return whyNoHosts();
}

export const REALM = "lab.example";
export const BASE = "DC=lab,DC=example";
const ADMIN_PASSWORD = "Adm1n-Passw0rd";

export interface ActiveDirectory extends AsyncDisposable {
  plain: string;
  secure: string;
  /** File of the authority that signed the certificate. */
  authority: string;
  /** Adds an account with a password; `more` are attributes. @returns its DN */
  addPerson(name: string, password: string, more?: Record<string, string>): Promise<string>;
  addGroup(name: string, members: readonly string[]): Promise<string>;
  /** Sets an attribute of an entry. */
  set(dn: string, attribute: string, ...values: string[]): Promise<void>;
  rename(dn: string, to: string): Promise<void>;
  remove(dn: string): Promise<void>;
}

async function run(words: string[], env: Record<string, string>): Promise<void> {
  const child = Bun.spawn(words, { env: { PATH, ...env }, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const said = await Promise.all([child.stdout, child.stderr].map((stream) => new Response(stream).text()));
  if ((await child.exited) !== 0) throw new Error(`${words.slice(0, 3).join(" ")}: ${said.join("")}`);
}

/** A new domain, which locks accounts out after three wrong passwords. */
export async function openActiveDirectory(): Promise<ActiveDirectory> {
  const directory = mkdtempSync(join(tmpdir(), "labd-ad-"));
  const at = (file: string): string => join(directory, file);
  let hosts: Hosts | undefined;
  const close = async (): Promise<void> => {
    await hosts?.[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    hosts = await makeHosts(["dc"]);
    const host = hosts.host("dc");
    const configuration = at("dc/etc/smb.conf");
    const env = { KRB5_CONFIG: at("dc/private/krb5.conf"), HOME: directory, TMPDIR: directory };
    await run(
      [
        "samba-tool",
        "domain",
        "provision",
        `--realm=${REALM.toUpperCase()}`,
        "--domain=LAB",
        "--server-role=dc",
        "--dns-backend=NONE",
        `--adminpass=${ADMIN_PASSWORD}`,
        `--targetdir=${at("dc")}`,
        "--host-name=dc1",
        `--host-ip=${host.address}`,
        "--option=vfs objects=acl_xattr dfs_samba4",
      ],
      env,
    );
    mkdirSync(at("tls"));
    certify(at("tls"), "dc", host.address);
    chmodSync(at("tls/dc-key.pem"), 0o600);
    const own = Object.entries({
      "log file": at("dc/log"),
      "pid directory": at("dc"),
      "ncalrpc dir": at("dc/ncalrpc"),
      "winbindd socket directory": at("dc/winbindd"),
      "ntp signd socket directory": at("dc/ntp"),
      "server services": "ldap",
      "tls certfile": at("tls/dc-cert.pem"),
      "tls keyfile": at("tls/dc-key.pem"),
      "tls cafile": at("tls/dc-ca.pem"),
    });
    writeFileSync(
      configuration,
      readFileSync(configuration, "utf8")
        .replace(/^\s*(log file|server services) =.*\n/gm, "")
        .replace("[global]\n", `[global]\n${own.map(([name, value]) => `\t${name} = ${value}\n`).join("")}`),
    );
    const child = host.start(
      ["samba", "-F", "--no-process-group", "-M", "single", "-l", directory, "-s", configuration],
      at("samba.log"),
      env,
    );
    const secure = `ldaps://${host.address}`;
    const trust = { ca: readFileSync(at("tls/dc-ca.pem"), "utf8"), host: host.address };
    const administrator = new Client({ url: secure, tlsOptions: trust });
    for (;;) {
      const isUp = await administrator.bind(`Administrator@${REALM}`, ADMIN_PASSWORD).then(
        () => true,
        () => false,
      );
      if (isUp) break;
      if (child.exitCode !== null)
        throw new Error(`samba ended with ${child.exitCode}: ${readFileSync(at("samba.log"), "utf8")}`);
      await Bun.sleep(20);
    }
    const set = (dn: string, type: string, ...values: string[]): Promise<void> =>
      administrator.modify(dn, [
        new Change({ operation: "replace", modification: new Attribute({ type, values }) }),
      ]);
    await set(BASE, "lockoutThreshold", "3");
    return {
      plain: `ldap://${host.address}`,
      secure,
      authority: at("tls/dc-ca.pem"),
      async addPerson(name, password, { cn = name, ...more } = {}) {
        const dn = `CN=${cn.replace(/[,+"\\<>;=]/g, "\\$&")},CN=Users,${BASE}`;
        await administrator.add(dn, [
          ...Object.entries({
            objectClass: "user",
            sAMAccountName: name,
            userPrincipalName: `${name}@${REALM}`,
            userAccountControl: "512",
            ...more,
          }).map(([type, value]) => new Attribute({ type, values: [value] })),
          new Attribute({ type: "unicodePwd", values: [Buffer.from(`"${password}"`, "utf16le")] }),
        ]);
        return dn;
      },
      async addGroup(name, members) {
        const dn = `CN=${name},CN=Users,${BASE}`;
        await administrator.add(dn, {
          objectClass: "group",
          sAMAccountName: name,
          ...(members.length === 0 ? {} : { member: [...members] }),
        });
        return dn;
      },
      set,
      rename: (dn, to) => administrator.modifyDN(dn, to),
      remove: (dn) => administrator.del(dn),
      async [Symbol.asyncDispose]() {
        await administrator.unbind().catch(() => {});
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}
