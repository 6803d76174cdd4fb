import { href } from "../address.ts";
import { Card } from "../components/layout.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { call } from "../request.ts";
import { type Found, formatTotal, recordHref } from "../search/search.ts";
import { ResultPlace } from "../search/where.tsx";
import { useSession } from "../session.ts";
import { isPeople, listSingular, STOCK_LISTS } from "./declaration.ts";
import { readList } from "./read-list.ts";
import { State } from "./record.tsx";

/** Records of each list. */
const FEW = 5;

type Stock = Parameters<typeof State>[0]["values"] & { id: string };

/** Records of the inventory that the reader may view and that name a gene. */
export function GeneRecords({ gene }: { gene: string | null }) {
  const session = useSession();
  const found = useLoaded(gene, (signal) => findRecords(gene!, signal));
  const { groups = [], stocks, total = 0, more = false } = found.value ?? {};
  if (gene === null || !found.value || (total === 0 && !session)) return null;
  return (
    <Card
      title="In the inventory"
      count={`${formatTotal({ total, more })} ${total === 1 ? "record names" : "records name"} ${gene}`}
      bare
      foot={total > 0 && <a href={href("/search", { q: gene })}>All that name {gene}</a>}
    >
      <ul class="list found">
        {groups.flatMap(({ list, results }) =>
          results.map((result) => {
            const stock = stocks?.get(result.id);
            return (
              <li key={result.id}>
                <span class="grow">
                  <a href={recordHref(list, result.id)}>{result.name || "(no name)"}</a>
                  <small>{listSingular(list)}</small>
                </span>
                <span class="end">
                  {stock && <State values={stock} />}
                  <ResultPlace of={result} />
                </span>
              </li>
            );
          }),
        )}
        {total === 0 && <li class="muted">No record that you can view names {gene}.</li>}
      </ul>
    </Card>
  );
}

/** The records, and those of stock among them by id. @throws ApiError */
async function findRecords(gene: string, signal: AbortSignal) {
  const found = await call("GET /api/v2/search/", { query: { q: gene, limit: FEW }, signal });
  const groups = found.groups.filter(({ list }) => !isPeople(list));
  const stock = await Promise.all(
    groups.filter(({ list }) => STOCK_LISTS.includes(list)).map((group) => readStock(group, signal)),
  );
  return {
    groups,
    total: groups.reduce((sum, group) => sum + group.total, 0),
    more: found.more,
    stocks: new Map(stock.flat().map((record) => [record.id, record])),
  };
}

async function readStock({ list, results }: Found["groups"][number], signal: AbortSignal): Promise<Stock[]> {
  const id__in = results.map(({ id }) => id).join();
  const fields = "id,status,expiry,amount,below_minimum";
  return (await readList<Stock>(list, { id__in, fields }, signal)).results;
}
