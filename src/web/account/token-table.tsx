import { useState } from "preact/hooks";
import { Confirm, type Question } from "../components/confirm.tsx";
import { Time } from "../format.tsx";
import { Button } from "../components/button.tsx";
import { Table } from "../components/table.tsx";
import { requestJson } from "../request.ts";

/** A token as lists have it: the own ones, or, with `username`, those of all. */
export interface TokenRow {
  id: string;
  username?: string;
  name: string;
  prefix: string;
  scope: "read" | "write";
  created: string;
  expires: string | null;
  last_used: string | null;
  revoked?: string | null;
}

/** Tokens, and a button by each that can still be used, which revokes it. */
export function TokenTable(props: {
  caption: string;
  rows: readonly TokenRow[];
  pathOf: (row: TokenRow) => string;
  onDone: () => void;
}) {
  const [question, setQuestion] = useState<Question | null>(null);
  const ofAll = props.rows.some(({ username }) => username !== undefined);
  const nameOf = ({ name, username }: TokenRow): string =>
    username === undefined ? name : `${name} of ${username}`;
  const revoke = (row: TokenRow): void =>
    setQuestion({
      title: `Revoke ${nameOf(row)}?`,
      text: "Programs that use it are refused from now on. It cannot be taken back.",
      verb: "Revoke",
      run: () => requestJson("DELETE", props.pathOf(row)),
      done: "The token is revoked.",
    });
  const isOver = ({ expires }: TokenRow): boolean => expires !== null && Date.parse(expires) <= Date.now();
  return (
    <>
      <Table
        caption={props.caption}
        rows={props.rows}
        keyOf={({ id }) => id}
        columns={[
          ...(ofAll
            ? [{ name: "username", title: "Whose", heading: true, cell: (row: TokenRow) => row.username }]
            : []),
          { name: "name", title: "For", heading: !ofAll, cell: (row) => row.name },
          { name: "prefix", title: "Begins", cell: (row) => <code>{row.prefix}…</code> },
          { name: "scope", title: "May", cell: (row) => (row.scope === "read" ? "read" : "read and write") },
          { name: "created", title: "Made", cell: (row) => <Time at={row.created} /> },
          { name: "expires", title: "Until", cell: (row) => <Time at={row.expires} none="no end" /> },
          { name: "last_used", title: "Last used", cell: (row) => <Time at={row.last_used} /> },
          {
            name: "revoke",
            title: <span class="unseen">What can be done</span>,
            cell: (row) =>
              row.revoked || isOver(row) ? (
                <span class="tag">{row.revoked ? "revoked" : "over"}</span>
              ) : (
                <Button look="quiet" aria-label={`Revoke ${nameOf(row)}`} onClick={() => revoke(row)}>
                  Revoke
                </Button>
              ),
          },
        ]}
      />
      {question && <Confirm question={question} onClose={() => setQuestion(null)} onDone={props.onDone} />}
    </>
  );
}
