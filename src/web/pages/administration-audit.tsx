import type { AuditEntry, AuditHead } from "../../accounts/audit.ts";
import { href } from "../address.ts";
import { administrationPage } from "../administration/page.tsx";
import { Button, LinkButton } from "../components/button.tsx";
import { Form } from "../components/form.tsx";
import { Tag } from "../components/layout.tsx";
import { formatCount, Time } from "../format.tsx";
import { get } from "../request.ts";

interface AuditLog {
  head: AuditHead | null;
  next: string | null;
  results: AuditEntry[];
}

const PATH = "/api/admin/audit/";
const FIELD = { literal: true, optional: "unmarked" } as const;
const FIELDS = [
  { ...FIELD, name: "actor", label: "User" },
  { ...FIELD, name: "action", label: "Action", placeholder: "sign_in" },
  { ...FIELD, name: "since", label: "From", placeholder: "2026-11-01" },
  { ...FIELD, name: "until", label: "Before" },
] as const;

const filterOf = (query: URLSearchParams) =>
  Object.fromEntries(FIELDS.map(({ name }) => [name, query.get(name) ?? ""]));

/** The page before which entries end, of the next page. */
const olderThan = ({ next }: AuditLog): string | null =>
  new URLSearchParams(next?.split("?")[1] ?? "").get("before");

const describe = (detail: AuditEntry["detail"]): string =>
  Object.entries(detail)
    .map(([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ") || "–";

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
  load: (query, signal) => get<AuditLog>(PATH, { ...filterOf(query), before: query.get("before") }, signal),
  keyOf: ({ seq }) => seq,
  nameOf: ({ action }) => action,
  empty: { title: "No matching entries", text: "Remove a part of the filter." },
  filter: ({ query, setQuery }) => (
    <Form
      inline
      look="plain"
      submit="Filter"
      initial={filterOf(query)}
      onSubmit={async (values) => setQuery({ ...values, before: null })}
      fields={FIELDS}
      extra={
        <LinkButton
          icon="download"
          href={href(PATH, { ...filterOf(query), format: "jsonl" })}
          download="audit.jsonl"
        >
          Export
        </LinkButton>
      }
    />
  ),
  columns: [
    { name: "time", title: "Time", phone: "end", cell: ({ time }) => <Time at={time} /> },
    {
      name: "action",
      title: "Action",
      heading: true,
      cell: ({ action, outcome }) => (
        <>
          <code>{action}</code> {outcome !== "done" && <Tag tone="danger">{outcome}</Tag>}
        </>
      ),
    },
    { name: "actor", title: "User", cell: ({ actor, via }) => actor ?? <span class="muted">{via}</span> },
    { name: "address", title: "Address", cell: ({ address }) => address ?? "–" },
    {
      name: "subject",
      title: "Object",
      cell: ({ subject }) => (
        <span class="anywhere">{subject ? [subject.kind, subject.id].filter(Boolean).join(" ") : "–"}</span>
      ),
    },
    {
      name: "detail",
      title: "Details",
      cell: ({ detail }) => <span class="anywhere">{describe(detail)}</span>,
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
