import type { Address } from "./address.ts";
import type { Page } from "./page.tsx";
import { databaseLinks } from "./score/protein-identity.tsx";

/** Profiles of Bioschemas (https://bioschemas.org/profiles). */
const PROFILES = {
  tool: "https://bioschemas.org/profiles/ComputationalTool/1.0-RELEASE",
  protein: "https://bioschemas.org/profiles/Protein/0.11-RELEASE",
};

const describe = (profile: string, properties: object): object => ({
  "@context": "https://schema.org",
  "http://purl.org/dc/terms/conformsTo": { "@id": profile },
  ...properties,
});

/**
 * The subject of a page as JSON-LD of Bioschemas, by which search engines and registries know it; undefined for most
 * pages. It says nothing about records, so that everybody may read it.
 * @param href makes the address of a path of this server
 */
export function describePage(
  { name }: Page,
  { params }: Address,
  { version, href }: { version: string; href: (path: string) => string },
): object | undefined {
  if (name === "home")
    return describe(PROFILES.tool, {
      "@type": "SoftwareApplication",
      "@id": href("/"),
      url: href("/"),
      name: "labd",
      description:
        "Scores matches of short linear motifs in proteins by their conservation in homologs, and keeps the inventory of a laboratory.",
      softwareVersion: version,
      applicationCategory: ["Web application", "Web API", "Web service", "Command-line tool"],
      applicationSubCategory: [
        { "@id": "http://edamontology.org/topic_0160", name: "Sequence sites, features and motifs" },
        { "@id": "http://edamontology.org/topic_0080", name: "Sequence analysis" },
      ],
      featureList: [{ "@id": "http://edamontology.org/operation_0239", name: "Sequence motif recognition" }],
      operatingSystem: "Linux",
      isAccessibleForFree: true,
      license: "https://spdx.org/licenses/Apache-2.0",
      softwareHelp: href("/help"),
      citation: "https://doi.org/10.1186/1471-2105-9-229",
    });
  if (name !== "protein") return undefined;
  const accession = params.accession ?? "";
  return describe(PROFILES.protein, {
    "@type": "Protein",
    "@id": href(`/proteins/${encodeURIComponent(accession)}`),
    identifier: accession,
    name: accession,
    url: href(`/proteins/${encodeURIComponent(accession)}`),
    sameAs: databaseLinks(accession).map(([, address]) => address),
  });
}
