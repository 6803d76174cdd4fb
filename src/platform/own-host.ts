import { isIP } from "node:net";
import { Problem } from "../problem.ts";
import { ownOrigin, type PublicUrlOptions } from "./origin.ts";

/**
 * True if a request names this service in its Host (or X-Forwarded-Host of a trusted proxy): by an address, localhost,
 * public_url, or one of `names`. A page elsewhere can point only a name of its own at this machine (DNS rebinding).
 */
export function isOwnHost(request: Request, names: readonly string[], reach: PublicUrlOptions): boolean {
  const { hostname } = new URL(ownOrigin(request, { ...reach, publicUrl: "" }));
  const host = hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  return (
    isIP(host) !== 0 ||
    host === "localhost" ||
    host.endsWith(".localhost") ||
    names.includes(host) ||
    (reach.publicUrl !== "" && new URL(reach.publicUrl).hostname === hostname)
  );
}

/** @param names the setting allowed_hosts; empty allows all. @throws Problem unknown_host */
export function requireOwnHost(request: Request, names: readonly string[], reach: PublicUrlOptions): void {
  if (names.length === 0 || isOwnHost(request, names, reach)) return;
  const { hostname } = new URL(ownOrigin(request, { ...reach, publicUrl: "" }));
  throw new Problem(
    "unknown_host",
    `Host: ${hostname} is not a name of this service. Use one of ${[...names, "localhost"].join(", ")} or its address; administrators add names to the setting allowed_hosts.`,
  );
}
