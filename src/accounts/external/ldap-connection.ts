import { readFileSync } from "node:fs";
import net from "node:net";
import tls from "node:tls";
import type { Entry, Filter } from "ldapts";
import { Problem } from "../../problem.ts";

/** How a directory is reached. */
export interface LdapServer {
  /** ldaps://, ldap:// or ldapi://; the first that answers is asked. */
  urls: readonly string[];
  startTls: boolean;
  /** File with the authorities that are trusted; empty for those of the system. */
  caFile: string;
  /** Milliseconds for one connection, from the first to the last word. */
  timeout: number;
}

/** What may be asked while a connection is open. */
export interface LdapConnection {
  /** Address of the server. */
  url: string;
  bind(dn: string, password: string): Promise<void>;
  /** At most `limit` entries; attributes as texts, what is no text in hexadecimal. */
  search(
    base: string,
    filter: LdapFilter,
    attributes: readonly string[],
    limit: number,
    scope?: "base" | "sub",
  ): Promise<LdapEntry[]>;
}

/** In the language of filters, or an attribute and a value as an entry has printed it. */
export type LdapFilter = string | { attribute: string; value: string };

export interface LdapEntry {
  dn: string;
  /** Values by the name of the attribute in lower case. */
  values: ReadonlyMap<string, readonly string[]>;
}

/** What a directory answers, as a number (RFC 4511, appendix A); undefined where it did not answer at all. */
export const resultCodeOf = (error: unknown): number | undefined => {
  const code = (error as { code?: unknown }).code;
  return typeof code === "number" ? code : undefined;
};

/** Connects, does some work, and takes leave. @throws Problem identity_unavailable where no server answers; what the work throws */
export async function withDirectory<T>(
  server: LdapServer,
  work: (connection: LdapConnection) => Promise<T>,
): Promise<T> {
  // Loaded where it is used: few installations have a directory.
  const library = await import("ldapts");
  const failures: string[] = [];
  for (const url of server.urls) {
    let connected: Awaited<ReturnType<typeof connect>>;
    try {
      connected = await connect(library, url, server);
    } catch (error) {
      failures.push(`${url}: ${(error as Error).message || String(error)}`);
      continue;
    }
    try {
      return await work(connected.connection);
    } finally {
      connected.close();
    }
  }
  throw unavailable(failures.join("; "));
}

/** The directory cannot be asked. What happened is for the log. */
export const unavailable = (why: string): Problem =>
  new Problem(
    "identity_unavailable",
    "The directory that knows your password does not answer. Try again in a while; accounts with a password of their own sign in as ever.",
    { headers: { "Retry-After": "30" }, cause: new Error(`LDAP: ${why}`) },
  );

async function connect(
  library: typeof import("ldapts"),
  url: string,
  { startTls, caFile, timeout }: LdapServer,
): Promise<{ connection: LdapConnection; close(): void }> {
  const path = url.startsWith("ldapi://")
    ? decodeURIComponent(url.slice("ldapi://".length).replace(/\/$/, ""))
    : undefined;
  const host = path === undefined ? new URL(url).hostname.replace(/^\[|\]$/g, "") : "localhost";
  const trust: tls.ConnectionOptions = {
    minVersion: "TLSv1.2",
    host,
    ...(net.isIP(host) === 0 ? { servername: host } : {}),
    ...(caFile === "" ? {} : { ca: readFileSync(caFile, "utf8") }),
  };
  const sockets: net.Socket[] = [];
  // A client that connects again by itself would say the next thing, a password, without StartTLS.
  const once = <S extends net.Socket>(open: () => S): S => {
    if (sockets.length > 0) throw new Error("The server closed the connection.");
    const socket = open();
    sockets.push(socket);
    return socket;
  };
  const isSecure = url.startsWith("ldaps:");
  const client = new library.Client({
    url: path === undefined ? url : "ldap://localhost",
    timeout,
    connectTimeout: timeout,
    strictDN: false,
    ...(isSecure ? { tlsOptions: trust } : {}),
    createConnection: ((port: number, host: string) =>
      once(() => (path === undefined ? net.connect(port, host) : net.connect(path)))) as typeof net.connect,
    createSecureConnection: ((...words: Parameters<typeof tls.connect>) => {
      if (isSecure) return once(() => tls.connect(...words));
      const socket = tls.connect(...words);
      sockets.push(socket);
      return socket;
    }) as typeof tls.connect,
  });
  let late = false;
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  // Some answers, such as those of a handshake, have no limit of their own.
  const patience = Promise.withResolvers<never>();
  patience.promise.catch(() => {});
  const timer = setTimeout(() => {
    late = true;
    patience.reject(new Error(`no answer within ${timeout / 1000} s`));
    cut();
  }, timeout);
  const inTime = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await Promise.race([work, patience.promise]);
    } catch (error) {
      throw late ? new Error(`no answer within ${timeout / 1000} s`) : error;
    }
  };
  const close = (): void => {
    clearTimeout(timer);
    if (late) return cut();
    void client
      .unbind()
      .catch(() => {})
      .finally(cut);
  };
  try {
    if (startTls && url.startsWith("ldap:")) await inTime(client.startTLS({ ...trust }));
    // So that a server that does not answer shows itself while there is another to try.
    else
      await inTime(
        client.search("", { scope: "base", filter: "(objectClass=*)", attributes: ["1.1"] }),
      ).catch(tolerate);
  } catch (error) {
    close();
    cut();
    throw error;
  }
  return {
    close,
    connection: {
      url,
      bind: (dn, password) => inTime(client.bind(dn, password)),
      async search(base, filter, attributes, limit, scope = "sub") {
        const { searchEntries } = await inTime(
          client.search(base, {
            filter: typeof filter === "string" ? filter : equality(library, filter),
            scope,
            sizeLimit: limit,
            attributes: attributes.length === 0 ? ["1.1"] : [...attributes],
            explicitBufferAttributes: [...attributes],
          }),
        );
        return searchEntries.map(printEntry);
      },
    },
  };
}

/** What is no text is asked for as the bytes that it is: the language of filters has them, but not the library. */
function equality(
  { EqualityFilter, OrFilter }: typeof import("ldapts"),
  { attribute, value }: { attribute: string; value: string },
): Filter {
  const text = new EqualityFilter({ attribute, value });
  if (!/^([0-9a-f]{2})+$/.test(value)) return text;
  return new OrFilter({
    filters: [text, new EqualityFilter({ attribute, value: Buffer.from(value, "hex") })],
  });
}

/** That somebody unknown may not look says that the server is there. */
function tolerate(error: unknown): void {
  if (resultCodeOf(error) === undefined) throw error;
}

function printEntry({ dn, ...attributes }: Entry): LdapEntry {
  const values = new Map<string, string[]>();
  for (const [name, value] of Object.entries(attributes))
    values.set(name.toLowerCase(), (Array.isArray(value) ? value : [value]).map(printValue));
  return { dn, values };
}

function printValue(value: string | Buffer): string {
  if (typeof value === "string") return value;
  const text = value.toString("utf8");
  return Buffer.from(text).equals(value) && !/\p{Cc}/u.test(text) ? text : value.toString("hex");
}
