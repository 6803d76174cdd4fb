import { href } from "../address.ts";
import { termUnit } from "../../inventory/model/unit.ts";
import { Button } from "../components/button.tsx";
import { confirm } from "../components/confirm.tsx";
import { Card } from "../components/layout.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { withErrorToast } from "../components/toast.tsx";
import { pluralize } from "../format.tsx";
import { callForResponse } from "../request.ts";
import { type Declaration, pagePath } from "./declaration.ts";
import { readList } from "./read-list.ts";
import type { Row } from "./record.tsx";
import { type Preview, showDone } from "./write-record.ts";

interface Unit {
  id: string;
  name: string;
  label: string;
  category__name: string;
}

/** Other units of the same meaning, such as µL on the page of ul, into which this one can be merged. */
export function SameUnits({ of, row, onChanged }: { of: Declaration; row: Row; onChanged: () => void }) {
  const found = useLoaded(row.mayDelete ? row.id : null, async (signal) => {
    const query = {
      category__kind: "unit",
      fields: "id,name,label,category__name",
      response_format: "flat",
      page_size: "max",
    };
    const { results } = await readList<Unit>(of.name, query, signal);
    const own = results.find(({ id }) => id === row.id);
    return { own, others: results.filter((unit) => own && unit !== own && symbol(unit) === symbol(own)) };
  });
  const { own, others = [] } = found.value ?? {};
  if (!own || others.length === 0) return null;
  return (
    <Card title="Units of the same meaning" bare>
      <ul class="list">
        {others.map((unit) => (
          <li key={unit.id}>
            <a href={href(pagePath(of.name, unit.id))}>{unit.name}</a>
            <small>{unit.category__name}</small>
            <span class="end">
              <Button small onClick={() => void merge(of.name, own, unit, onChanged)}>
                Merge into {unit.name}
              </Button>
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

const symbol = ({ name, label }: Unit): string => termUnit(name, label).symbol;

/** Asks before it merges, with the number of records that change. */
const merge = (list: string, { id, name }: Unit, into: Unit, onChanged: () => void): Promise<void> =>
  withErrorToast(async () => {
    const send = (query: Record<string, string>) =>
      callForResponse("POST /api/v2/:list/:id/merge/", {
        params: { list, id },
        query,
        body: { into: into.id },
      });
    const preview = (await (await send({ dry_run: "1", changes: "0" })).json()) as unknown as Preview;
    const changed = pluralize(preview.records - 1, "record");
    confirm({
      title: `Merge ${name} into ${into.name}?`,
      text: `${changed} will have ${into.name} instead. Amounts stay as they are. ${name} will be deleted.`,
      verb: `Merge into ${into.name}`,
      look: "primary",
      run: async () => {
        showDone(`Merged ${name} into ${into.name}.`, await send({ confirm: preview.confirm }), onChanged);
        onChanged();
      },
    });
  });
