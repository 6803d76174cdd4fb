import { useState } from "preact/hooks";
import { Confirm, type Question } from "../administration/confirm.tsx";
import { Administration } from "../administration/frame.tsx";
import { When } from "../administration/show.tsx";
import { useLoaded } from "../inventory/loaded.ts";
import { definePage, useQuery } from "../page.tsx";
import { Button } from "../part/button.tsx";
import { Empty } from "../part/empty.tsx";
import { Failure } from "../part/failure.tsx";
import { Checkbox } from "../part/field.tsx";
import { Table } from "../part/table.tsx";
import { ask, get } from "../request.ts";

interface Row {
  id: string;
  username: string;
  name: string;
  prefix: string;
  scope: "read" | "write";
  created: string;
  expires: string | null;
  last_used: string | null;
  revoked: string | null;
}

function TokensPage() {
  const [query, setQuery] = useQuery();
  const all = query.get("all") === "1";
  const { value, error, reload } = useLoaded(`tokens ${all}`, (signal) =>
    get<{ results: Row[] }>("/api/admin/tokens", { all: all ? 1 : null }, signal),
  );
  const [question, setQuestion] = useState<Question | null>(null);
  const isOver = (row: Row): boolean =>
    row.revoked !== null || (row.expires !== null && Date.parse(row.expires) <= Date.now());
  return (
    <Administration path="/administration/tokens" title="Tokens">
      <p>
        By these, programs work in somebody's name. Everybody makes their own in their profile; here any can
        be revoked.
      </p>
      <Checkbox
        label="Show also those that are over or revoked"
        checked={all}
        onChange={(on) => setQuery({ all: on ? 1 : null })}
      />
      {error !== undefined && <Failure error={error} retry={reload} />}
      {value?.results.length === 0 && (
        <Empty title="No tokens">
          <p>Nobody has made one yet.</p>
        </Empty>
      )}
      {value && value.results.length > 0 && (
        <Table
          caption="Tokens"
          hideCaption
          rows={value.results}
          keyOf={({ id }) => id}
          columns={[
            { name: "username", title: "Whose", heading: true, cell: (row) => row.username },
            { name: "name", title: "For", cell: (row) => row.name },
            { name: "prefix", title: "Begins", cell: (row) => <code>{row.prefix}…</code> },
            {
              name: "scope",
              title: "May",
              cell: (row) => (row.scope === "read" ? "read" : "read and write"),
            },
            { name: "created", title: "Made", cell: (row) => <When at={row.created} /> },
            { name: "expires", title: "Until", cell: (row) => <When at={row.expires} none="no end" /> },
            { name: "last_used", title: "Last used", cell: (row) => <When at={row.last_used} /> },
            {
              name: "revoke",
              title: <span class="unseen">What can be done</span>,
              cell: (row) =>
                isOver(row) ? (
                  <span class="tag">{row.revoked === null ? "over" : "revoked"}</span>
                ) : (
                  <Button
                    look="quiet"
                    aria-label={`Revoke ${row.name} of ${row.username}`}
                    onClick={() =>
                      setQuestion({
                        title: `Revoke ${row.name} of ${row.username}?`,
                        text: "Programs that use it are refused from now on. It cannot be taken back.",
                        verb: "Revoke",
                        run: () => ask("DELETE", `/api/admin/tokens/${row.id}`),
                        done: "The token is revoked.",
                      })
                    }
                  >
                    Revoke
                  </Button>
                ),
            },
          ]}
        />
      )}
      {question && <Confirm question={question} onClose={() => setQuestion(null)} onDone={reload} />}
    </Administration>
  );
}

export const administrationTokensPage = definePage({
  name: "administration-tokens",
  paths: ["/administration/tokens"],
  title: "Tokens",
  section: "administration",
  View: TokensPage,
});
