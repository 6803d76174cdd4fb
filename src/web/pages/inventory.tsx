import { href } from "../address.ts";
import { LinkButton } from "../components/button.tsx";
import { Card, PageHead } from "../components/layout.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { formatCount } from "../format.tsx";
import { api, GROUPS, pageOf, titleOf } from "../inventory/declaration.ts";
import type { View } from "../inventory/list-menus.tsx";
import { definePage } from "../page.tsx";
import { get } from "../request.ts";

const Inventory = () => (
  <>
    <PageHead
      title="Inventory"
      actions={
        <>
          <LinkButton icon="scan-line" href={href("/inventory/scan")}>
            Scan a code
          </LinkButton>
          <LinkButton look="primary" icon="map-pin" href={href("/inventory/tree")}>
            Browse locations
          </LinkButton>
        </>
      }
    />
    <div class="columns">
      {GROUPS.map(({ title, segments }) => (
        <Card key={title} title={title} bare>
          <ul class="list">
            {segments.map((segment) => (
              <li key={segment}>
                <a href={href(pageOf(segment))}>{titleOf(segment)}</a>
                <Count segment={segment} />
              </li>
            ))}
          </ul>
        </Card>
      ))}
      <Views />
    </div>
  </>
);

function Count({ segment }: { segment: string }) {
  const { value } = useLoaded(segment, (signal) =>
    get<{ total: number }>(api(segment), { page_size: "1", fields: "id" }, signal),
  );
  return <span class="count end">{value && formatCount(value.total)}</span>;
}

function Views() {
  const query = { response_format: "flat", page_size: "50", fields: "id,name,list,query" };
  const views = useLoaded("views", (signal) => get<{ results: View[] }>(api("views"), query, signal));
  return (
    <Card title="Saved views" bare foot={<a href={href(pageOf("views"))}>All views</a>}>
      <Loaded of={views}>
        {({ results }) => (
          <ul class="list">
            {results.length === 0 && <li class="muted">Filter a list and choose “Save view”.</li>}
            {results.map(({ id, name, list, query: search }) => (
              <li key={id}>
                <a href={`${href(pageOf(list))}?${search}`}>{name}</a>
                <small class="end">{titleOf(list)}</small>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </Card>
  );
}

export const inventoryPage = definePage({
  name: "inventory",
  paths: ["/inventory"],
  title: "Inventory",
  View: Inventory,
});
