import { match } from "./address.ts";

export interface HelpTopic {
  /** Name of its file in `docs/`, without `.md`. */
  name: string;
  /** Heading of that file. */
  title: string;
}

/** Topics of `/help`, in order. */
export const HELP_GROUPS: readonly { title: string; topics: readonly HelpTopic[] }[] = [
  {
    title: "Motif scoring",
    topics: [
      { name: "biologist", title: "Score a motif" },
      { name: "batches", title: "Score many proteins on many machines" },
      { name: "motif-classes", title: "Motif classes" },
      { name: "features", title: "Known features" },
      { name: "method", title: "The method" },
      { name: "quality", title: "Quality of the score" },
    ],
  },
  {
    title: "Inventory",
    topics: [
      { name: "lab-manager", title: "Manage the inventory" },
      { name: "coming-from", title: "Coming from another program" },
    ],
  },
  {
    title: "From a program",
    topics: [
      { name: "clients", title: "Clients for Python, R and TypeScript" },
      { name: "scoring-api", title: "The scoring API (JSON)" },
      { name: "soap", title: "The SOAP service" },
      { name: "library", title: "The motif library" },
      { name: "rest", title: "The inventory API" },
      { name: "webhooks", title: "Webhooks" },
      { name: "assistants", title: "Assistants" },
      { name: "problems", title: "Problems: every failure a caller can see" },
    ],
  },
  {
    title: "Administration",
    topics: [
      { name: "administrator", title: "Run labd on a server" },
      { name: "settings", title: "Settings" },
      { name: "identity", title: "Sign in with LDAP or OpenID Connect" },
      { name: "farm", title: "Score on several machines" },
      { name: "reliability", title: "Reliability" },
      { name: "performance", title: "Performance" },
    ],
  },
];

export const HELP_TOPICS: readonly HelpTopic[] = HELP_GROUPS.flatMap(({ topics }) => topics);

/** Chapters of the help by templates of the paths of pages: the first that fits. */
export const CHAPTERS: readonly [pages: string, chapter: string][] = [
  ["/inventory/:list/import", "lab-manager#import-and-export"],
  ["/inventory/labels", "lab-manager#labels"],
  ["/inventory/stocktake*", "lab-manager#stocktakes"],
  ["/inventory/(offline|scan)", "lab-manager#phones-and-work-without-a-network"],
  ["/inventory/(storage|build)", "lab-manager#boxes-and-positions"],
  ["/inventory/((?:locations|equipment|places|addresses).*)", "lab-manager#boxes-and-positions"],
  ["/inventory/(running-out|stocks-.*)", "lab-manager#stock"],
  ["/inventory/codepatterns*", "lab-manager#codes"],
  [
    "/inventory/((?:annotationtypes|custompropertytypes|fieldmeta|vocabularies).*)",
    "lab-manager#describe-records",
  ],
  ["/inventory/changes", "lab-manager#change-things"],
  ["/inventory/views*", "lab-manager#find-things"],
  ["/inventory*", "lab-manager"],
  ["/search", "lab-manager#find-things"],
  ["/profile", "lab-manager#stay-informed"],
  ["/administration/audit", "administrator#audit-log"],
  ["/administration/backups", "administrator#back-up-and-restore"],
  ["/administration/farm", "farm"],
  ["/administration/features", "features"],
  ["/administration/motif-classes", "motif-classes"],
  ["/administration/corpora", "biologist#get-the-data"],
  ["/administration*", "administrator#administration-pages"],
  ["/classes*", "motif-classes"],
  ["/scan*", "biologist#scan-for-all-motif-classes"],
  ["/proteome*", "biologist#search-a-whole-proteome"],
  ["/proteins*", "biologist#everything-about-one-protein"],
  ["/batch*", "biologist#many-proteins"],
  ["/changes", "biologist#when-the-collection-changes"],
  ["/score/*", "biologist#reading-a-result"],
  ["/docs*", "rest"],
  ["/clients*", "clients"],
  ["*", "biologist"],
];

/** The address of the chapter about a page. */
export const findHelp = (path: string): string =>
  `/help/${CHAPTERS.find(([pages]) => match(pages, path))![1]}`;
