import { LISTS, makeNouns, PEOPLE, RESOURCES } from "../inventory/index.ts";
import type { DocumentPart } from "../platform/openapi-part.ts";

/** The resources of the API reference that are not lists of the inventory. */
const OTHER_TAGS: Readonly<Record<string, string>> = {
  api: "The resources of the inventory.",
  version: "The version of the inventory's API.",
  resolver: "Records by id or name.",
  batches: "Batches of jobs, and batches of changes, which can be undone.",
  changes: "All changes, for synchronisation.",
  imports: "Imports of files.",
  attachments: "Files of records.",
  labels: "Sheets and rolls for labels.",
  sample: "Sample data for an empty inventory.",
  scan: "Records by barcode or label.",
  search: "All lists at once.",
  "core/usagelogs": "Use of the service.",
  tokens: "API tokens.",
  "token-auth": "Tokens for a username and password.",
  session: "The current browser session.",
  soap: "Conservation scoring over SOAP.",
  scans: "Scans of several proteins as one.",
  comparison: "Two results, compared.",
  jobs: "Conservation scoring of short linear motifs: submitted jobs and their results.",
  "watched-queries": "Saved queries, and verdicts that change with the corpus.",
  patterns: "Motifs as expressions over residues.",
  "motif-classes": "Named motifs.",
  counts: "Numbers of proteins, motif classes and results.",
  corpus: "The protein collection in use.",
  corpora: "Protein collections.",
  features: "Imported features of proteins.",
  proteome: "Searches of all proteins for a motif.",
  proteins: "Proteins of the collection in use, by name.",
  setup: "The first administrator.",
  password: "Your password.",
  confirmation: "Confirmation of your identity.",
  sessions: "Your browser sessions.",
  "second-factor": "Your second factor.",
  "second-factors": "Second factors of all accounts.",
  identities: "Links between accounts and people in a directory or at a provider.",
  audit: "The audit log.",
  reminders: "Your reminders by e-mail.",
  farm: "Workers on other machines.",
  backups: "Backups.",
  health: "State of the server.",
  tasks: "Work that takes longer than a request: jobs, batches, builds, backups.",
  webhooks: "Notifications about records and jobs.",
  healthz: "Whether the process runs.",
  readyz: "Whether the service accepts requests.",
};

/** The resources of the API reference. */
export const TAGS = [
  {
    name: "records",
    description:
      "The records of every list: annotations, notes, files, permissions, history, references, labels, imports.",
  },
  ...[...RESOURCES, ...Object.values(PEOPLE)].map(({ segment, summary }) => ({
    name: segment,
    description: summary,
  })),
  ...Object.entries(OTHER_TAGS).map(([name, description]) => ({ name, description })),
];

/** Nouns of the lists under a heading of the overview; the others are for clients of LabID. */
const CORE_LISTS = Object.fromEntries(
  RESOURCES.filter(({ segment }) => LISTS[segment]?.section !== undefined).map((resource) => [
    resource.segment,
    makeNouns(resource),
  ]),
);
const isOtherList = (path: string): boolean =>
  RESOURCES.some(({ segment }) => !(segment in CORE_LISTS) && `${path}/`.startsWith(`/api/v2/${segment}/`));
/** History and restoration of one annotation, note or grant, which few programs need. */
const isPastOfPart = (path: string): boolean => /\{(sub_id|grant)\}\/\w/.test(path);
const isInventory = (path: string): boolean => path.startsWith("/api/v2");
const isScoring = (path: string): boolean => /^\/(api\/scoring|soap)\b/.test(path);

/** Parts of the document for generators of clients. */
export const DOCUMENT_PARTS: Readonly<Record<string, DocumentPart>> = {
  inventory: {
    holds: (path) => isInventory(path) && !isOtherList(path) && !isPastOfPart(path),
    lists: CORE_LISTS,
  },
  scoring: { holds: isScoring },
  administration: { holds: (path) => !isInventory(path) && !isScoring(path) },
};
