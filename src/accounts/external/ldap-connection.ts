import { readFileSync } from "node:fs";
import net from "node:net";
import tls from "node:tls";
import type { Client, Entry, Filter } from "ldapts";
import { Problem } from "../../problem.ts";

export interface LdapServer {
  /** ldaps://, ldap:// or ldapi://, tried in this order. */
  urls: readonly string[];
  startTls: boolean;
  /** File of trusted certificate authorities; empty for the system's. */
  caFile: string;
}

/** A filter (RFC 4515), or an attribute with a value in the form of `LdapEntry`. */
export type LdapFilter = string | { attribute: string; value: string };

export interface LdapEntry {
  dn: string;
  /** Values by attribute name in lower case; binary values in hexadecimal. */
  values: ReadonlyMap<string, readonly string[]>;
}

type Library = typeof import("ldapts");

const TIMEOUT = 5000;

/** The result code of a server (RFC 4511, appendix A); undefined if the error is not an LDAP result. */
export const readResultCode = (error: unknown): number | undefined => {
  const { code } = error as { code?: unknown };
  return typeof code === "number" ? code : undefined;
};

/** The directory cannot be used. The reason is for the log. */
export const unavailable = (reason: string): Problem =>
  new Problem(
    "identity_unavailable",
    "The directory that stores your password is not available. Try again later; accounts with a local password can sign in.",
    { headers: { "Retry-After": "30" }, cause: new Error(`LDAP: ${reason}`) },
  );

/** Runs `work` on a connection to the first server that answers. @throws Problem identity_unavailable */
export async function withDirectory<T>(
  server: LdapServer,
  work: (connection: LdapConnection) => Promise<T>,
): Promise<T> {
  // Loaded on demand: few installations have a directory.
  const library = await import("ldapts");
  const failures: string[] = [];
  for (const url of server.urls) {
    const connection = new LdapConnection(library, url, server.caFile);
    try {
      await connection.open(server.startTls);
    } catch (error) {
      failures.push(`${url}: ${(error as Error).message || String(error)}`);
      connection.close();
      continue;
    }
    try {
      return await work(connection);
    } finally {
      connection.close();
    }
  }
  throw unavailable(failures.join("; "));
}

export class LdapConnection {
  readonly #client: Client;
  readonly #tlsOptions: tls.ConnectionOptions;
  readonly #sockets: net.Socket[] = [];
  readonly #deadline = Promise.withResolvers<never>();
  readonly #timer: Timer;

  constructor(
    private readonly library: Library,
    readonly url: string,
    caFile: string,
  ) {
    const isSecure = url.startsWith("ldaps:");
    const path = url.startsWith("ldapi://")
      ? decodeURIComponent(url.slice("ldapi://".length).replace(/\/$/, ""))
      : undefined;
    const host = path === undefined ? new URL(url).hostname.replace(/^\[|\]$/g, "") : "localhost";
    this.#tlsOptions = {
      minVersion: "TLSv1.2",
      host,
      ...(net.isIP(host) === 0 ? { servername: host } : {}),
      ...(caFile === "" ? {} : { ca: readFileSync(caFile, "utf8") }),
    };
    this.#client = new library.Client({
      url: path === undefined ? url : "ldap://localhost",
      timeout: TIMEOUT,
      connectTimeout: TIMEOUT,
      strictDN: false,
      ...(isSecure ? { tlsOptions: this.#tlsOptions } : {}),
      createConnection: ((port: number, name: string) =>
        this.#once(() => (path === undefined ? net.connect(port, name) : net.connect(path)))) as never,
      createSecureConnection: ((...options: Parameters<typeof tls.connect>) =>
        isSecure ? this.#once(() => tls.connect(...options)) : this.#track(tls.connect(...options))) as never,
    });
    this.#deadline.promise.catch(() => {});
    const expire = (): void => this.#deadline.reject(new Error(`no response within ${TIMEOUT / 1000} s`));
    this.#timer = setTimeout(expire, TIMEOUT);
  }

  #track<S extends net.Socket>(socket: S): S {
    this.#sockets.push(socket);
    return socket;
  }

  /** The client must not reconnect by itself: it would send a password without StartTLS. */
  #once<S extends net.Socket>(connect: () => S): S {
    if (this.#sockets.length > 0) throw new Error("The server closed the connection.");
    return this.#track(connect());
  }

  #inTime<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#deadline.promise]);
  }

  /** Connects, so that a server that does not answer is noticed while there is another to try. */
  async open(startTls: boolean): Promise<void> {
    if (startTls && this.url.startsWith("ldap:")) {
      await this.#inTime(this.#client.startTLS({ ...this.#tlsOptions }));
      return;
    }

    await this.#inTime(
      this.#client.search("", { scope: "base", filter: "(objectClass=*)", attributes: ["1.1"] }),
    ).catch((error: unknown) => {
      // An anonymous search may be refused; the server answers.
      if (readResultCode(error) === undefined) throw error;
    });
  }

  close(): void {
    clearTimeout(this.#timer);
    void this.#inTime(this.#client.unbind())
      .catch(() => {})
      .finally(() => {
        for (const socket of this.#sockets) socket.destroy();
      });
  }

  bind(dn: string, password: string): Promise<void> {
    return this.#inTime(this.#client.bind(dn, password));
  }

  /** At most `limit` entries with these attributes. */
  async search(
    base: string,
    filter: LdapFilter,
    attributes: readonly string[],
    limit: number,
    scope: "base" | "sub" = "sub",
  ): Promise<LdapEntry[]> {
    const { searchEntries } = await this.#inTime(
      this.#client.search(base, {
        filter: typeof filter === "string" ? filter : this.#equality(filter),
        scope,
        sizeLimit: limit,
        attributes: attributes.length === 0 ? ["1.1"] : [...attributes],
        explicitBufferAttributes: [...attributes],
      }),
    );
    return searchEntries.map(toEntry);
  }

  /** A value in hexadecimal may be binary; filters written as text cannot express that with this library. */
  #equality({ attribute, value }: { attribute: string; value: string }): Filter {
    const { EqualityFilter, OrFilter } = this.library;
    const text = new EqualityFilter({ attribute, value });
    if (!/^([0-9a-f]{2})+$/.test(value)) return text;
    return new OrFilter({
      filters: [text, new EqualityFilter({ attribute, value: Buffer.from(value, "hex") })],
    });
  }
}

function toEntry({ dn, ...attributes }: Entry): LdapEntry {
  const values = Object.entries(attributes).map(
    ([name, value]) => [name.toLowerCase(), [value].flat().map(toText)] as const,
  );
  return { dn, values: new Map(values) };
}

function toText(value: string | Buffer): string {
  if (typeof value === "string") return value;
  const text = value.toString("utf8");
  return Buffer.from(text).equals(value) && !/\p{Cc}/u.test(text) ? text : value.toString("hex");
}
