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
  { title: "Inventory", topics: [{ name: "lab-manager", title: "Manage the inventory" }] },
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
