import { callerAddress, type PublicUrlOptions } from "./origin.ts";

/** What the server knows of a request that the request itself does not say. Asked for only where it is needed. */
export interface Arrival {
  /** Network address of the other end; null where it is gone. */
  address(): string | null;
  /** Scheme, host and port of the server's own, for requests that name none. */
  origin(): string;
  /** Whether over a Unix socket, which has no address. */
  isUnix?: boolean;
}

const arrivals = new WeakMap<Request, Arrival>();

/** How a request arrived, where that was remembered. */
export const arrivalOf = (request: Request): Arrival | undefined => arrivals.get(request);

/** Remembers how a request arrived. */
export function rememberArrival(request: Request, arrival: Arrival): void {
  arrivals.set(request, arrival);
}

/**
 * Who asks, as a key by which clients are told apart: the user where the request carries a valid token or session,
 * else the network. Credentials that are not valid, or not for us, are no reason to refuse here.
 */
export function callerOf(
  request: Request,
  accounts: { authenticate(request: Request): { username: string | null } },
  reach: PublicUrlOptions,
): string {
  if (request.headers.has("authorization") || request.headers.has("cookie")) {
    try {
      const { username } = accounts.authenticate(request);
      if (username !== null) return `user ${username}`;
    } catch {
      // As good as none.
    }
  }
  return callerNetwork(request, reach) ?? "";
}

/** The network that a request comes from, where it is known. */
export function callerNetwork(request: Request, reach: PublicUrlOptions): string | undefined {
  const address = callerAddress(request, arrivals.get(request)?.address() ?? undefined, reach);
  return address === undefined ? undefined : networkOf(address);
}

/**
 * The network of an address: of IPv4 the address; of IPv6 its first 64 bits, since whoever has one address has all of
 * these (RFC 6177). IPv4 inside IPv6 (RFC 4291, section 2.5.5.2) counts as IPv4.
 */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped) return mapped[1];
  if (!address.includes(":")) return address;
  const [plain] = address.split("%");
  const [head, tail] = plain.split("::");
  const groups = head === "" ? [] : head.split(":");
  if (tail !== undefined) {
    const last = tail === "" ? [] : tail.split(":");
    while (groups.length + last.length < 8) groups.push("0");
  }
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":")}::/64`;
}
