import type { AuditEntry } from "../../accounts/audit.ts";
import { groupTitle } from "../../platform/words.ts";
import { href } from "../address.ts";
import { SEGMENTS, describeEntry } from "../administration/audit-sentence.ts";
import { administrationPage } from "../administration/page.tsx";
import { Button, LinkButton } from "../components/button.tsx";
import { Form } from "../components/form.tsx";
import { KeyValues, Tag } from "../components/layout.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { capitalized, formatCount, Time } from "../format.tsx";
import { declaration, pagePath } from "../inventory/declaration.ts";
import type { User } from "../administration/people.ts";
import { readList } from "../inventory/read-list.ts";
import { Person, readName } from "../inventory/record.tsx";
import type { SetQuery } from "../page.tsx";
import { type Answer, call } from "../request.ts";

type AuditLog = Answer<"GET /api/admin/audit/">;

const PATH = "/api/admin/audit/";
const NAMES = ["actor", "action", "since", "until"] as const;
type Filter = Record<(typeof NAMES)[number], string>;

/** Actions, or groups of them, in words. */
const ACTIONS: Readonly<Record<string, string>> = {
  sign_in: "Sign in",
  sign_out: "Sign out",
  session: "Sessions",
  account: "Accounts",
  second_factor: "Second factors",
  link: "Sign-in links",
  token: "Tokens",
  group: "Groups",
  membership: "Members of groups",
  permission: "Permissions",
  record: "Records",
  webhook: "Webhooks",
  job: "Jobs",
  task: "Tasks",
  corpus: "Corpora",
  proteome: "Families",
  features: "Features",
  motif_classes: "Motif classes",
  backup: "Backups",
  service: "Starts and stops",
};

const readFilter = (query: URLSearchParams) =>
  Object.fromEntries(NAMES.map((name) => [name, query.get(name) ?? ""])) as Filter;

/** Choices of a filter, with the one in force where it is not among them. */
function listChoices(found: readonly (readonly [value: string, name: string])[], current: string) {
  const isKnown = current === "" || found.some(([value]) => value === current);
  const all = [["", "All"] as const, ...found, ...(isKnown ? [] : [[current, current] as const])];
  return all.map(([value, name]) => ({ value, name }));
}

function FilterForm({ query, setQuery }: { query: URLSearchParams; setQuery: SetQuery }) {
  const filter = readFilter(query);
  const { value: people } = useLoaded("people", (signal) =>
    readList<User>("users", { page_size: "1000" }, signal),
  );
  const names = (people?.results ?? []).map(
    ({ username, full_name }) => [username, full_name || username] as const,
  );
  const optional = { optional: "unmarked" } as const;
  return (
    <Form<Filter>
      key={JSON.stringify(filter)}
      inline
      look="plain"
      submit="Filter"
      initial={filter}
      onSubmit={async (values) => setQuery({ ...values, before: null })}
      fields={[
        {
          ...optional,
          kind: "select",
          name: "actor",
          label: "Person",
          choices: listChoices(names, filter.actor),
        },
        {
          ...optional,
          kind: "select",
          name: "action",
          label: "Action",
          choices: listChoices(Object.entries(ACTIONS), filter.action),
        },
        { ...optional, type: "date", name: "since", label: "From" },
        { ...optional, type: "date", name: "until", label: "Before" },
      ]}
      extra={
        <LinkButton icon="download" href={href(PATH, { ...filter, format: "jsonl" })} download="audit.jsonl">
          Export
        </LinkButton>
      }
    />
  );
}

/** The page before which entries end, of the next page. */
const olderThan = ({ next }: AuditLog): string | null =>
  new URLSearchParams(next?.split("?")[1] ?? "").get("before");

/** "admin deleted consumable anti-GFP"; of several records, the sentence of their batch. */
function Sentence(entry: AuditEntry) {
  const { subject, outcome } = entry;
  const batch = subject?.kind === "batch" ? subject.id : null;
  const { value } = useLoaded(batch, async (signal) => {
    const { sentence } = await call("GET /api/v2/batches/:id/", {
      params: { id: batch! },
      query: { page_size: 1 },
      signal,
    });
    return sentence;
  });
  return (
    <>
      {value ?? <Words entry={entry} />} {outcome !== "done" && <Tag tone="danger">{outcome}</Tag>}
    </>
  );
}

function Words({ entry }: { entry: AuditEntry }) {
  const { subject } = entry;
  const { who, did, name } = describeEntry(entry);
  const segment =
    subject?.id && name === null && entry.detail.count !== undefined ? SEGMENTS[subject.kind] : undefined;
  const found = useLoaded(segment ? `${segment} ${subject!.id}` : null, async () =>
    readName({ segment: segment!, key: (await declaration(segment!)).key }, subject!.id!),
  );
  return (
    <>
      <b>{entry.actor === null ? who : <Person username={entry.actor} />}</b> {did}{" "}
      {name !== null && <b>{name}</b>}
      {segment && found.value !== undefined && (
        <a href={href(pagePath(segment, subject!.id!))}>{found.value}</a>
      )}
    </>
  );
}

export const administrationAuditPage = administrationPage<AuditLog, AuditEntry>({
  section: "audit",
  intro: ({ head }) => (
    <>
      Entries can only be added, and each contains the hash of the previous one:{" "}
      <code>labd audit verify</code> finds changes.
      {head && (
        <>
          {" "}
          To prove later that nothing is missing, record the hash of entry {formatCount(
            head.seq,
          )} elsewhere: <code>{head.hash}</code>
        </>
      )}
    </>
  ),
  load: (query, signal) =>
    call("GET /api/admin/audit/", {
      query: { ...readFilter(query), before: Number(query.get("before")) || undefined },
      signal,
    }),
  rowKey: ({ seq }) => seq,
  rowName: ({ action }) => action,
  empty: { title: "No matching entries", text: "Remove a part of the filter." },
  filter: ({ query, setQuery }) => <FilterForm query={query} setQuery={setQuery} />,
  columns: [
    { name: "time", title: "Time", phone: "end", cell: ({ time }) => <Time at={time} /> },
    { name: "event", title: "Event", heading: true, cell: (entry) => <Sentence {...entry} /> },
    { name: "address", title: "Address", cell: ({ address }) => address ?? "–" },
    {
      name: "detail",
      title: "Details",
      cell: ({ action, via, subject, detail }) => (
        <details class="anywhere">
          <summary>Details</summary>
          <KeyValues
            of={[
              ["Action", <code key="action">{action}</code>],
              ["By way of", via],
              ["Object", subject && [subject.kind, subject.id].filter(Boolean).join(" ")],
              ...Object.entries(detail).map(
                ([name, value]) =>
                  [
                    capitalized(name.replaceAll("_", " ")),
                    typeof value === "object" ? JSON.stringify(value) : groupTitle(String(value)),
                  ] as const,
              ),
            ]}
          />
        </details>
      ),
    },
  ],
  foot: ({ data, query, setQuery }) => (
    <>
      {query.has("before") && (
        <Button small onClick={() => setQuery({ before: null })}>
          Newest
        </Button>
      )}
      <Button small disabled={olderThan(data) === null} onClick={() => setQuery({ before: olderThan(data) })}>
        Older
      </Button>
    </>
  ),
});
