import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, chmodSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Attribute, Change, Client } from "ldapts";
import { type Host, Hosts, whyNoHosts } from "../../executable/network-hosts.ts";
import { certify } from "../../executable/certificate.ts";
import { waitFor } from "../../wait.ts";

/**
 * A real Active Directory domain controller: Samba (Debian packages samba, samba-dsdb-modules and samba-ad-provision),
 * one process that serves only LDAP, on a simulated machine because its ports are fixed.
 */

const PATH = `${process.env.PATH}:/usr/sbin:/sbin`;
const SCHEMA = "/usr/share/samba/setup/ad-schema";

/** Why no domain controller can start on this machine, or null. */
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

async function run(words: string[], env: Record<string, string>): Promise<void> {
  const child = Bun.spawn(words, { env: { PATH, ...env }, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const output = await Promise.all([child.stdout, child.stderr].map((stream) => new Response(stream).text()));
  if ((await child.exited) !== 0) throw new Error(`${words.slice(0, 3).join(" ")}: ${output.join("")}`);
}

/** Environment of Samba's programs. */
const environment = (directory: string): Record<string, string> => ({
  KRB5_CONFIG: join(directory, "dc/private/krb5.conf"),
  HOME: directory,
  TMPDIR: directory,
});

/** Creates the domain's files, the certificate and the configuration. @returns path of the configuration */
async function provision(directory: string, address: string): Promise<string> {
  const at = (file: string): string => join(directory, file);
  const flags = {
    realm: REALM.toUpperCase(),
    domain: "LAB",
    "server-role": "dc",
    "dns-backend": "NONE",
    adminpass: ADMIN_PASSWORD,
    targetdir: at("dc"),
    "host-name": "dc1",
    "host-ip": address,
    option: "vfs objects=acl_xattr dfs_samba4",
  };
  const words = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
  await run(["samba-tool", "domain", "provision", ...words], environment(directory));
  mkdirSync(at("tls"));
  certify(at("tls"), "dc", address);
  chmodSync(at("tls/dc-key.pem"), 0o600);
  const settings = Object.entries({
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
  const configuration = at("dc/etc/smb.conf");
  writeFileSync(
    configuration,
    readFileSync(configuration, "utf8")
      .replace(/^\s*(log file|server services) =.*\n/gm, "")
      .replace(
        "[global]\n",
        `[global]\n${settings.map(([name, value]) => `\t${name} = ${value}\n`).join("")}`,
      ),
  );
  return configuration;
}

/** Starts the controller and signs in as administrator once it answers. */
async function startController(directory: string, host: Host, configuration: string): Promise<Client> {
  const log = join(directory, "samba.log");
  const words = ["samba", "-F", "--no-process-group", "-M", "single", "-l", directory, "-s", configuration];
  const child = host.start(words, log, environment(directory));
  const tlsOptions = { ca: readFileSync(join(directory, "tls/dc-ca.pem"), "utf8"), host: host.address };
  const client = new Client({ url: `ldaps://${host.address}`, tlsOptions });
  const isUp = (): Promise<boolean> =>
    client.bind(`Administrator@${REALM}`, ADMIN_PASSWORD).then(
      () => true,
      () => false,
    );
  await waitFor(async () => child.exitCode !== null || (await isUp()));
  if (child.exitCode !== null)
    throw new Error(`samba ended with ${child.exitCode}: ${readFileSync(log, "utf8")}`);
  return client;
}

export class ActiveDirectory implements AsyncDisposable {
  readonly plain: string;
  readonly secure: string;
  /** File of the authority that signed the certificate. */
  readonly authority: string;

  private constructor(
    address: string,
    private readonly directory: string,
    private readonly hosts: Hosts,
    private readonly administrator: Client,
  ) {
    this.plain = `ldap://${address}`;
    this.secure = `ldaps://${address}`;
    this.authority = join(directory, "tls/dc-ca.pem");
  }

  /** A new domain, which locks accounts after three wrong passwords. */
  static async open(): Promise<ActiveDirectory> {
    const directory = mkdtempSync(join(tmpdir(), "labd-ad-"));
    let hosts: Hosts | undefined;
    try {
      hosts = await Hosts.create(["dc"]);
      const host = hosts.host("dc");
      const configuration = await provision(directory, host.address);
      const administrator = await startController(directory, host, configuration);
      const domain = new ActiveDirectory(host.address, directory, hosts, administrator);
      await domain.set(BASE, "lockoutThreshold", "3");
      return domain;
    } catch (error) {
      await hosts?.[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
      throw error;
    }
  }

  /** Adds an account with a password and more attributes. @returns its DN */
  async addPerson(
    name: string,
    password: string,
    { cn = name, ...more }: Record<string, string> = {},
  ): Promise<string> {
    const dn = `CN=${cn.replace(/[,+"\\<>;=]/g, "\\$&")},CN=Users,${BASE}`;
    const attributes = {
      objectClass: "user",
      sAMAccountName: name,
      userPrincipalName: `${name}@${REALM}`,
      userAccountControl: "512",
      ...more,
    };
    await this.administrator.add(dn, [
      ...Object.entries(attributes).map(([type, value]) => new Attribute({ type, values: [value] })),
      new Attribute({ type: "unicodePwd", values: [Buffer.from(`"${password}"`, "utf16le")] }),
    ]);
    return dn;
  }

  /** @returns the group's DN */
  async addGroup(name: string, members: readonly string[]): Promise<string> {
    const dn = `CN=${name},CN=Users,${BASE}`;
    await this.administrator.add(dn, {
      objectClass: "group",
      sAMAccountName: name,
      ...(members.length === 0 ? {} : { member: [...members] }),
    });
    return dn;
  }

  /** Replaces the values of an entry's attribute. */
  set(dn: string, type: string, ...values: string[]): Promise<void> {
    const modification = new Attribute({ type, values });
    return this.administrator.modify(dn, [new Change({ operation: "replace", modification })]);
  }

  rename(dn: string, to: string): Promise<void> {
    return this.administrator.modifyDN(dn, to);
  }

  remove(dn: string): Promise<void> {
    return this.administrator.del(dn);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.administrator.unbind().catch(() => {});
    await this.hosts[Symbol.asyncDispose]();
    rmSync(this.directory, { recursive: true, force: true });
  }
}
