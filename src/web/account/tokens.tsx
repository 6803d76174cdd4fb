import { Tag } from "../components/layout.tsx";
import type { Column } from "../components/table.tsx";
import { Time } from "../format.tsx";
import type { Answer } from "../request.ts";

/** A token with the members that its owner and administrators see. */
export type TokenRow = Answer<"GET /api/v2/tokens/">["results"][number] & {
  username?: string;
  revoked?: string | null;
};

const isExpired = ({ expires }: TokenRow): boolean => expires !== null && Date.parse(expires) <= Date.now();

/** A token without its owner. */
export const tokenColumns: readonly Column<TokenRow>[] = [
  {
    name: "name",
    title: "Purpose",
    heading: true,
    cell: (row) => (
      <>
        {row.name} {(row.revoked || isExpired(row)) && <Tag>{row.revoked ? "revoked" : "expired"}</Tag>}
      </>
    ),
  },
  { name: "prefix", title: "Starts with", cell: ({ prefix }) => <code>{prefix}…</code> },
  { name: "scope", title: "Access", cell: ({ scope }) => (scope === "read" ? "Read" : "Read and write") },
  { name: "created", title: "Created", cell: ({ created }) => <Time at={created} /> },
  { name: "expires", title: "Expires", cell: ({ expires }) => <Time at={expires} /> },
  { name: "last_used", title: "Last used", cell: ({ last_used }) => <Time at={last_used} /> },
];

/** Revokes a token permanently. */
export const revokeToken = {
  label: "Revoke",
  applies: (row: TokenRow) => !row.revoked && !isExpired(row),
  confirm: ({ name }: TokenRow) => ({
    title: `Revoke ${name}?`,
    text: "Programs that use this token lose access immediately. You cannot undo this.",
  }),
  done: ({ name }: TokenRow) => `Revoked ${name}.`,
};
