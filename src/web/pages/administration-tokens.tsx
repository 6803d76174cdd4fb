import { type TokenRow, tokenColumns, revokeToken } from "../account/tokens.tsx";
import { administrationPage } from "../administration/page.tsx";
import { Checkbox } from "../components/field.tsx";
import { call } from "../request.ts";

export const administrationTokensPage = administrationPage({
  section: "tokens",
  intro: () => "Programs use tokens to act for a person. People create their own tokens in their profile.",
  load: (query, signal) =>
    call("GET /api/admin/tokens", { query: { all: query.has("all") ? "1" : undefined }, signal }),
  rowKey: ({ id }: TokenRow) => id,
  rowName: ({ name, username = "" }) => `${name} of ${username}`,
  empty: { title: "No tokens", text: "Nobody has created a token yet." },
  filter: ({ query, setQuery }) => (
    <Checkbox
      label="Show expired and revoked tokens"
      checked={query.get("all") === "1"}
      onChange={(on) => setQuery({ all: on ? 1 : null })}
    />
  ),
  columns: [
    { name: "username", title: "User", heading: true, cell: ({ username }) => username },
    ...tokenColumns,
  ],
  actions: [
    {
      ...revokeToken,
      run: ({ id }) => call("DELETE /api/admin/tokens/:id", { params: { id } }).then(() => null),
    },
  ],
});
