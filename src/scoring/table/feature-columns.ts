import type { Column } from "./column.ts";
import { forMatch } from "./filters.ts";
import { choiceOfTwo, instanceName, isKnown } from "./match-values.ts";

/** The columns of imported features. */
export const FEATURE_COLUMNS: readonly Column[] = [
  {
    name: "known_instance",
    title: "Known instance",
    description: "Imported instances of the motif at the match.",
    type: "text",
    of: "features",
    value: ({ notes }) => notes?.instances.map(instanceName).join(", "),
    filter: choiceOfTwo(
      {
        name: "known",
        title: "Known instances",
        description: "true: only matches that are known instances of their motif; false: only others.",
        switches: {
          "--known": ["true", "Print only matches that are known instances of their motif."],
          "--unknown": ["false", "Print only matches that are no known instances."],
        },
      },
      ["Known instance", "Not known"],
      isKnown,
    ),
  },
  {
    name: "also_annotated_in",
    title: "Known in homologs",
    description: "Imported instances of the motif in homologs, at the same place of the alignment.",
    type: "text",
    of: "features",
    value: ({ notes }) =>
      notes?.homologs
        ?.map((one) => [one.organism, one.accession, instanceName(one)].filter(Boolean).join(" "))
        .join(", "),
  },
  {
    name: "domains",
    title: "Domains",
    description: "Imported domains that contain at least half of the match.",
    type: "text",
    of: "features",
    value: ({ notes }) => notes?.domains.join(", "),
    filter: {
      kind: "choice",
      single: "text",
      name: "domain",
      title: "Domains",
      description: "Only matches inside, or outside, the imported domains of the protein.",
      choices: { inside: "In a domain", outside: "Outside domains" },
      readValue: forMatch(({ notes }) => (notes ? (notes.domains.length > 0 ? "inside" : "outside") : null)),
      switches: {
        "--inside-domains": ["inside", "Print only matches that lie in a domain (labd features add)."],
        "--outside-domains": ["outside", "Print only matches that lie in no domain."],
      },
    },
  },
  {
    name: "phosphosite_distance",
    title: "Phosphosite",
    description: "Residues to the nearest imported phosphosite, 0 inside the match.",
    type: "count",
    unit: "residues",
    of: "features",
    value: ({ notes }) => notes?.phosphosite,
    filter: {
      kind: "limit",
      name: "phosphosite",
      title: "Residues to a phosphosite, at most",
      description: "Only matches with an imported phosphosite at most this many residues away.",
      type: "count",
      maximum: 1000,
      flag: "--near-phosphosite",
      readValue: forMatch(({ notes }) => notes?.phosphosite),
    },
  },
];
