import { readFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../package.json";

/** An entry of bun.lock: `name@version`, its source, its metadata, its hash. */
type Locked = [string, string, { dependencies?: Record<string, string> }, string];

/** Packages that the program uses, with what they use, by their keys in bun.lock. */
function listUsed(packages: Record<string, Locked>): Locked[] {
  const found = new Map<string, Locked>();
  const add = (name: string, parent: string): void => {
    // A version for one package has that package's key before its own.
    const nested = `${parent}/${name}`;
    const key = nested in packages ? nested : name;
    if (found.has(key)) return;
    found.set(key, packages[key]);
    for (const each of Object.keys(packages[key][2].dependencies ?? {})) add(each, key);
  };
  for (const name of Object.keys(manifest.dependencies)) add(name, "");
  return [...new Map(found.values().map((locked) => [locked[0], locked])).values()];
}

/** An expression of SPDX, such as `(MIT OR CC0-1.0)`, or words. */
const describeLicense = (license: string): object =>
  license.startsWith("SEE ") ? { license: { name: license } } : { expression: license };

function describe([id, , , integrity]: Locked): object {
  const at = id.lastIndexOf("@");
  const [name, version] = [id.slice(0, at), id.slice(at + 1)];
  const { license } = JSON.parse(readFileSync(join("node_modules", name, "package.json"), "utf8"));
  return {
    type: "library",
    "bom-ref": id,
    name,
    version,
    purl: `pkg:npm/${name.replace("@", "%40")}@${version}`,
    hashes: [{ alg: "SHA-512", content: Buffer.from(integrity.replace("sha512-", ""), "base64").toHex() }],
    ...(license && { licenses: [describeLicense(license)] }),
  };
}

/** The software bill of materials of an executable: CycloneDX 1.6 as JSON. @param date RFC 3339 */
export function billOfMaterials(version: string, date: string): string {
  const { packages } = Bun.JSONC.parse(readFileSync("bun.lock", "utf8")) as {
    packages: Record<string, Locked>;
  };
  const bill = {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      timestamp: date,
      component: {
        type: "application",
        "bom-ref": "labd",
        name: "labd",
        version,
        licenses: [{ expression: manifest.license }],
      },
    },
    components: [
      {
        type: "platform",
        "bom-ref": "bun",
        name: "bun",
        version: Bun.version,
        purl: `pkg:npm/bun@${Bun.version}`,
      },
      ...listUsed(packages).map(describe),
    ],
  };
  return `${JSON.stringify(bill, null, 2)}\n`;
}
