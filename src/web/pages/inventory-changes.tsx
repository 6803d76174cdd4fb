import { useState } from "preact/hooks";
import { href } from "../address.ts";
import { Button } from "../components/button.tsx";
import { SelectField } from "../components/field.tsx";
import { Card, PageHead } from "../components/layout.tsx";
import { formatCount } from "../format.tsx";
import { GROUPS, listTitle } from "../inventory/declaration.ts";
import { ChangeList, useRecentChanges } from "../inventory/recent-changes.tsx";
import { SignInFirst } from "../inventory/sign-in-first.tsx";
import { definePage, useQuery } from "../page.tsx";
import { useSession } from "../session.ts";

/** Changes that are loaded at first. */
const PAGE_SIZE = 50;

const InventoryChanges = () => (
  <>
    <PageHead title="Recent changes" crumbs={[{ name: "Inventory", href: href("/inventory") }]}>
      Users with permission to edit a record can undo its changes, until it is changed again.
    </PageHead>
    <SignInFirst to="see and undo changes">
      <Changes />
    </SignInFirst>
  </>
);

function Changes() {
  const session = useSession();
  const [query, setQuery] = useQuery();
  const [size, setSize] = useState(PAGE_SIZE);
  const [list, by] = [query.get("list") ?? "", query.get("by") ?? ""];
  const changes = useRecentChanges({
    page_size: String(size),
    resource: list === "" ? undefined : list,
    user: by === "me" ? session?.user.username : undefined,
  });
  const later = Math.max(0, (changes.value?.total ?? 0) - size);
  const lists = GROUPS.flatMap(({ segments }) => segments);
  return (
    <div class="stack">
      <div class="form-inline">
        <SelectField
          label="Made by"
          value={by}
          choices={[
            { value: "", name: "Everyone" },
            { value: "me", name: "You" },
          ]}
          onChange={(value) => setQuery({ by: value || null })}
        />
        <SelectField
          label="List"
          value={list}
          choices={[
            { value: "", name: "All lists" },
            ...lists.map((segment) => ({ value: segment, name: listTitle(segment) })),
          ]}
          onChange={(value) => setQuery({ list: value || null })}
        />
      </div>
      <Card title="Changes" count={changes.value && formatCount(changes.value.total)} bare>
        <ChangeList of={changes} empty="Nothing was changed yet." />
      </Card>
      {later > 0 && size < 1000 && (
        <div>
          <Button onClick={() => setSize(Math.min(1000, size * 4))}>Show {formatCount(later)} earlier</Button>
        </div>
      )}
    </div>
  );
}

export const inventoryChangesPage = definePage({
  name: "inventory-changes",
  paths: ["/inventory/changes"],
  title: "Recent changes",
  View: InventoryChanges,
});
