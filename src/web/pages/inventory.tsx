import { href } from "../address.ts";
import { LinkButton } from "../components/button.tsx";
import { Card, PageHead } from "../components/layout.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { formatCount } from "../format.tsx";
import { GROUPS, isInTree, LISTS, pagePath, STOCK_LISTS, listTitle } from "../inventory/declaration.ts";
import { Dashboard } from "../inventory/dashboard.tsx";
import { FirstSteps, NextStep } from "../inventory/first-steps.tsx";
import type { View } from "../inventory/list-views.tsx";
import { definePage } from "../page.tsx";
import { countRecords, readList } from "../inventory/read-list.ts";

/** Numbers of records, by list. */
type Counts = Record<string, number>;

/** The number of records in each list. */
async function readCounts(signal: AbortSignal): Promise<Counts> {
  const lists = GROUPS.flatMap(({ segments }) => segments);
  const totals = await Promise.all(
    lists.map(async (segment) => {
      return [segment, await countRecords(segment, {}, signal)] as const;
    }),
  );
  return Object.fromEntries(totals);
}

function Inventory() {
  const counts = useLoaded("counts", readCounts);
  return (
    <>
      <PageHead
        title="Inventory"
        actions={
          <>
            <LinkButton icon="scan-line" href={href("/inventory/scan")}>
              Scan a code
            </LinkButton>
            <LinkButton icon="refrigerator" href={href("/inventory/storage")}>
              Storage
            </LinkButton>
          </>
        }
      />
      <Loaded of={counts}>{(value) => <Overview counts={value} onLoaded={counts.reload} />}</Loaded>
    </>
  );
}

/** The first steps in an empty inventory, the dashboard in one with stock; below them all lists. */
function Overview({ counts, onLoaded }: { counts: Counts; onLoaded: () => void }) {
  const isUsed = (segments: readonly string[]): boolean => segments.some((segment) => counts[segment] > 0);
  return (
    <div class="stack">
      {!isUsed([...Object.keys(LISTS).filter(isInTree), ...STOCK_LISTS]) ? (
        <FirstSteps onLoaded={onLoaded} />
      ) : isUsed(STOCK_LISTS) ? (
        <Dashboard>
          <Views />
        </Dashboard>
      ) : (
        <NextStep />
      )}
      <Lists counts={counts} />
    </div>
  );
}

const Lists = ({ counts }: { counts: Counts }) => (
  <div class="columns lists">
    {GROUPS.map(({ title, segments }) => (
      <Card key={title} title={title} bare>
        <ul class="list">
          {segments.map((segment) => (
            <li key={segment}>
              <a href={href(pagePath(segment), isInTree(segment) ? { page: 1 } : {})}>{listTitle(segment)}</a>
              <span class="count end">{formatCount(counts[segment])}</span>
            </li>
          ))}
        </ul>
      </Card>
    ))}
  </div>
);

function Views() {
  const query = { kind: "list", response_format: "flat", page_size: "50", fields: "id,name,list,query" };
  const views = useLoaded("views", (signal) => readList<View>("views", query, signal));
  return (
    <Card title="Saved views" bare foot={<a href={href(pagePath("views"))}>All views</a>}>
      <Loaded of={views}>
        {({ results }) => (
          <ul class="list">
            {results.length === 0 && <li class="muted">Filter a list and choose “Save view”.</li>}
            {results.map(({ id, name, list, query: search }) => (
              <li key={id}>
                <a href={`${href(pagePath(list))}?${search}`}>{name}</a>
                <small class="end">{listTitle(list)}</small>
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
