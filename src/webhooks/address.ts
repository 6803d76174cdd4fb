import { BlockList, isIP } from "node:net";
import { Problem } from "../problem.ts";

/** IPv4 networks that are not public (IANA special-purpose registry, RFC 6890 and its updates). */
const SPECIAL_IPV4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
];
/** Parts of 2000::/3 that are not public: Teredo and other protocol assignments, documentation, 6to4. */
const SPECIAL_IPV6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"];

const family = (address: string): "ipv4" | "ipv6" => (isIP(address) === 6 ? "ipv6" : "ipv4");

function blockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address, bits] = network.split("/");
    list.addSubnet(address, Number(bits), family(address));
  }
  return list;
}

const SPECIAL = blockList([...SPECIAL_IPV4, ...SPECIAL_IPV6]);
const GLOBAL_UNICAST_IPV6 = blockList(["2000::/3"]);
const IPV4_MAPPED = blockList(["::ffff:0:0/96"]);

/**
 * True if webhooks may call an IP address: it is public, or in one of the `allowed` networks. False for anything that is
 * not an IP address. `BlockList` applies IPv4 networks to IPv4-mapped IPv6 addresses too.
 */
export function isAllowedAddress(address: string, allowed: BlockList): boolean {
  if (isIP(address) === 0 || address.includes("%")) return false;
  const version = family(address);
  if (allowed.check(address, version)) return true;
  const isPublic =
    version === "ipv4" || GLOBAL_UNICAST_IPV6.check(address, version) || IPV4_MAPPED.check(address, version);
  return isPublic && !SPECIAL.check(address, version);
}

/** Parses the setting webhook_allow, such as `10.1.0.0/16, fd00::/8`. @throws Problem invalid_setting */
export function readNetworks(setting: string): BlockList {
  const networks = setting
    .split(",")
    .map((network) => network.trim())
    .filter((network) => network !== "");
  for (const network of networks) {
    const [, address = "", bits] = /^([^/]+)\/(\d{1,3})$/.exec(network) ?? [];
    const version = isIP(address);
    if (version === 0 || Number(bits) > (version === 6 ? 128 : 32))
      throw new Problem(
        "invalid_setting",
        `webhook_allow: "${network}" is not a network. Use CIDR notation such as 10.1.0.0/16 or fd00::/8, separated by commas.`,
      );
  }
  return blockList(networks);
}
