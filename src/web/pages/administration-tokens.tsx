import { type TokenRow, TokenTable } from "../account/token-table.tsx";
import { Administration } from "../administration/frame.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { definePage, useQuery } from "../page.tsx";
import { Empty } from "../components/empty.tsx";
import { ErrorBanner } from "../components/banner.tsx";
import { Checkbox } from "../components/field.tsx";
import { get } from "../request.ts";

function TokensPage() {
  const [query, setQuery] = useQuery();
  const all = query.get("all") === "1";
  const { value, error, reload } = useLoaded(`tokens ${all}`, (signal) =>
    get<{ results: TokenRow[] }>("/api/admin/tokens", { all: all ? 1 : null }, signal),
  );
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
      {error !== undefined && <ErrorBanner error={error} retry={reload} />}
      {value?.results.length === 0 && (
        <Empty title="No tokens">
          <p>Nobody has made one yet.</p>
        </Empty>
      )}
      {value && value.results.length > 0 && (
        <TokenTable
          caption="Tokens"
          rows={value.results}
          pathOf={({ id }) => `/api/admin/tokens/${id}`}
          onDone={reload}
        />
      )}
    </Administration>
  );
}

export const administrationTokensPage = definePage({
  name: "administration-tokens",
  paths: ["/administration/tokens"],
  title: "Tokens",
  View: TokensPage,
});
