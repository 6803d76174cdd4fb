import { href } from "../address.ts";
import { api, GROUPS, pageOf, titleOf } from "../inventory/declaration.ts";
import { useLoaded } from "../components/loaded.tsx";
import { definePage } from "../page.tsx";
import { LinkButton } from "../components/button.tsx";
import { get } from "../request.ts";

interface View {
  id: string;
  name: string;
  list: string;
  query: string;
  owner: string;
}

function Inventory() {
  return (
    <>
      <h1>Inventory</h1>
      <p class="lead">What there is, where it is, and what is known about it.</p>
      <p class="row">
        <LinkButton look="primary" href={href("/inventory/tree")}>
          Look into the freezers
        </LinkButton>
        <LinkButton href={href("/inventory/scan")}>Scan a label</LinkButton>
      </p>
      <div class="columns">
        {GROUPS.map(({ title, segments }) => (
          <section key={title} class="card">
            <h2>{title}</h2>
            <ul class="bare">
              {segments.map((segment) => (
                <li key={segment} class="row between">
                  <a href={href(pageOf(segment))}>{titleOf(segment)}</a>
                  <Count segment={segment} />
                </li>
              ))}
            </ul>
          </section>
        ))}
        <Views />
      </div>
    </>
  );
}

function Count({ segment }: { segment: string }) {
  const { value } = useLoaded(segment, (signal) =>
    get<{ total: number }>(api(segment), { page_size: "1", fields: "id" }, signal),
  );
  return <span class="muted numeric">{value ? value.total.toLocaleString("en") : "\u00a0"}</span>;
}

function Views() {
  const { value } = useLoaded("views", (signal) =>
    get<{ results: View[] }>(
      "/api/v2/views/",
      { response_format: "flat", page_size: "50", fields: "id,name,list,query,owner" },
      signal,
    ),
  );
  return (
    <section class="card">
      <h2>Saved views</h2>
      {value?.results.length === 0 && (
        <p class="muted">None yet: open a list, filter it, and save what you see under “Views”.</p>
      )}
      <ul class="bare">
        {value?.results.map(({ id, name, list, query }) => (
          <li key={id} class="row between">
            <a href={`${href(pageOf(list))}?${query}`}>{name}</a>
            <small>{titleOf(list)}</small>
          </li>
        ))}
      </ul>
      <p>
        <a href={href(pageOf("views"))}>All views</a>
      </p>
    </section>
  );
}

export const inventoryPage = definePage({
  name: "inventory",
  paths: ["/inventory"],
  title: "Inventory",
  View: Inventory,
});
