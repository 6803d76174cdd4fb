import { BlockList, isIP } from "node:net";
import { Problem } from "../problem.ts";

/** Networks that are nobody's public address (IANA special-purpose registries, RFC 6890 and its updates). */
const REFUSED_IPV4 = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const;
/** Of IPv6 only 2000::/3 is public at all, without Teredo, 6to4 and other ways to IPv4, and without documentation. */
const REFUSED_IPV6 = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const;

const family = (address: string): "ipv4" | "ipv6" => (isIP(address) === 6 ? "ipv6" : "ipv4");

function listOf(networks: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList();
  for (const [network, bits] of networks) list.addSubnet(network, bits, family(network));
  return list;
}

const REFUSED = listOf([...REFUSED_IPV4, ...REFUSED_IPV6]);
const PUBLIC_IPV6 = listOf([["2000::", 3]]);
const MAPPED = listOf([["::ffff:0:0", 96]]);

/**
 * Whether an IP address may be called, besides those of `allowed`. What is no IP address may not.
 * @param allowed networks of the laboratory's own
 */
export function isAllowedAddress(address: string, allowed: BlockList): boolean {
  const version = isIP(address);
  if (version === 0 || address.includes("%")) return false;
  if (version === 4) return allowed.check(address, "ipv4") || !REFUSED.check(address, "ipv4");
  if (MAPPED.check(address, "ipv6")) return isAllowedAddress(unmapped(address), allowed);
  if (allowed.check(address, "ipv6")) return true;
  return PUBLIC_IPV6.check(address, "ipv6") && !REFUSED.check(address, "ipv6");
}

/** The IPv4 address inside of ::ffff:0:0/96, which operating systems take for it (RFC 4291, section 2.5.5.2). */
function unmapped(address: string): string {
  // As a URL has it the last two groups are hexadecimal, whatever was written.
  const groups = new URL(`http://[${address}]/`).hostname.slice(1, -1).split(":").slice(-2);
  const [high, low] = groups.map((group) => Number.parseInt(group || "0", 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

/** The setting webhook_allow, such as `10.1.0.0/16, fd00::/8`. @throws Problem invalid_setting */
export function readNetworks(text: string): BlockList {
  const networks = text.split(",").map((part) => part.trim());
  const list = new BlockList();
  for (const network of networks.filter((part) => part !== "")) {
    const [address, bits, ...more] = network.split("/");
    const version = isIP(address);
    const most = version === 6 ? 128 : 32;
    if (version === 0 || more.length > 0 || !/^\d{1,3}$/.test(bits ?? "") || Number(bits) > most)
      throw new Problem(
        "invalid_setting",
        `webhook_allow: "${network}" is no network; expected such as 10.1.0.0/16 or fd00::/8, separated by commas.`,
      );
    list.addSubnet(address, Number(bits), family(address));
  }
  return list;
}
