import { useState } from "preact/hooks";
import { Administration } from "../administration/frame.tsx";
import { formatCount, Time } from "../format.tsx";
import { href } from "../address.ts";
import { useLoaded } from "../components/loaded.tsx";
import { definePage, useQuery } from "../page.tsx";
import { Button, LinkButton } from "../components/button.tsx";
import { Empty } from "../components/empty.tsx";
import { ErrorBanner } from "../components/banner.tsx";
import { TextField } from "../components/field.tsx";
import { Table } from "../components/table.tsx";
import { get } from "../request.ts";

interface Entry {
  seq: number;
  time: string;
  actor: string | null;
  via: string;
  address: string | null;
  action: string;
  subject: { kind: string; id: string | null } | null;
  outcome: string;
  detail: Record<string, unknown>;
}
interface Log {
  head: { seq: number; hash: string } | null;
  next: string | null;
  results: Entry[];
}

const PATH = "/api/admin/audit/";
const FILTERS = ["actor", "action", "since", "until"] as const;

function AuditPage() {
  const [query, setQuery] = useQuery();
  const chosen = Object.fromEntries(FILTERS.map((name) => [name, query.get(name) ?? ""]));
  const [typed, type] = useState(chosen);
  const before = query.get("before");
  const { value, error, reload } = useLoaded(query.toString(), (signal) =>
    get<Log>(PATH, { ...chosen, before }, signal),
  );
  const field = (name: (typeof FILTERS)[number], label: string) => (
    <TextField
      label={label}
      value={typed[name]}
      spellcheck={false}
      onInput={(text) => type({ ...typed, [name]: text })}
    />
  );
  const next = new URLSearchParams(value?.next ?? "").get("before");
  return (
    <Administration path="/administration/audit" title="Audit log">
      <p>
        Who signed in, gave rights, deleted, imported and administered. It only grows; each entry holds the
        hash of the one before, and <code>labd audit verify</code> finds what was changed or taken out.
      </p>
      {value?.head && (
        <p>
          {formatCount(value.head.seq)} entries. The last has the hash{" "}
          <code class="anywhere">{value.head.hash}</code>: note it elsewhere to see later that nothing up to
          here is gone.
        </p>
      )}
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          setQuery({ ...typed, before: null });
        }}
      >
        {field("actor", "Who")}
        {field("action", "What, such as token")}
        {field("since", "From, such as 2026-11-01")}
        {field("until", "Before")}
        <Button look="primary" type="submit">
          Show
        </Button>
        <LinkButton look="plain" href={href(PATH, { ...chosen, format: "jsonl" })} download="audit.jsonl">
          As JSON lines
        </LinkButton>
      </form>
      {error !== undefined && <ErrorBanner error={error} retry={reload} />}
      {value?.results.length === 0 && (
        <Empty title="No such entry">
          <p>Leave out a part of what is asked for.</p>
        </Empty>
      )}
      {value && value.results.length > 0 && (
        <Table
          caption="Entries, the newest first"
          rows={value.results}
          keyOf={({ seq }) => String(seq)}
          columns={[
            { name: "time", title: "When", cell: (row) => <Time at={row.time} /> },
            {
              name: "action",
              title: "What",
              heading: true,
              cell: (row) => (
                <>
                  <code>{row.action}</code>{" "}
                  {row.outcome !== "done" && <span class="tag bad">{row.outcome}</span>}
                </>
              ),
            },
            {
              name: "actor",
              title: "Who",
              cell: (row) => row.actor ?? <span class="muted">{row.via}</span>,
            },
            { name: "address", title: "From", cell: (row) => row.address ?? "–" },
            {
              name: "subject",
              title: "On",
              cell: (row) =>
                row.subject ? [row.subject.kind, row.subject.id].filter(Boolean).join(" ") : "–",
            },
            {
              name: "detail",
              title: "More",
              cell: (row) => (Object.keys(row.detail).length > 0 ? said(row.detail) : "–"),
            },
          ]}
        />
      )}
      <p class="row">
        {before !== null && <Button onClick={() => setQuery({ before: null })}>← Newest</Button>}
        {next !== null && <Button onClick={() => setQuery({ before: next })}>Older →</Button>}
      </p>
    </Administration>
  );
}

/** What else an entry holds, for people. */
const said = (detail: Record<string, unknown>): string =>
  Object.entries(detail)
    .map(([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ");

export const administrationAuditPage = definePage({
  name: "administration-audit",
  paths: ["/administration/audit"],
  title: "Audit log",
  View: AuditPage,
});
