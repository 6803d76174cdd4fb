import { useState } from "preact/hooks";
import { termUnit } from "../../inventory/model/unit.ts";
import { href } from "../address.ts";
import { Button } from "../components/button.tsx";
import { confirm } from "../components/confirm.tsx";
import { Select } from "../components/field.tsx";
import { Card } from "../components/layout.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { withErrorToast } from "../components/toast.tsx";
import { pluralize } from "../format.tsx";
import { callForResponse } from "../request.ts";
import { pagePath } from "./declaration.ts";
import { useSession } from "../session.ts";
import { readList } from "./read-list.ts";
import type { Row } from "./record.tsx";
import { type Preview, showDone } from "./write-record.ts";

interface Unit {
  id: string;
  name: string;
  label: string;
  public: boolean;
  category__name: string;
}

/** The list of the units. */
export const TERMS = "vocabularies/terms";

/** Units of each meaning that several have, such as ul and µL; of that of one unit, if its id is given. */
async function readSameUnits(id: string | undefined, signal: AbortSignal): Promise<Unit[][]> {
  const query = {
    category__kind: "unit",
    fields: "id,name,label,public,category__name",
    response_format: "flat",
    page_size: "max",
  };
  const { results } = await readList<Unit>(TERMS, query, signal);
  const groups = [...Map.groupBy(results, ({ name, label }) => termUnit(name, label).symbol).values()];
  return groups.filter((units) => units.length > 1 && (!id || units.some((unit) => unit.id === id)));
}

/** The unit that is likely to remain: one that all may view, by its usual name. */
const findUsual = (units: readonly Unit[]): Unit => units.toSorted((a, b) => rank(a) - rank(b))[0];
const rank = ({ public: isPublic, name, label }: Unit): number =>
  (isPublic ? 0 : 2) + (termUnit(name, label).name === name ? 0 : 1);

/** Units of the same meaning, and a button that merges them all after a preview. @param of one of them, on its page */
export function SameUnits({ of, onChanged }: { of?: Row; onChanged: () => void }) {
  const isHidden = !useSession() || of?.mayDelete === false;
  const [kept, setKept] = useState<Readonly<Record<string, string>>>({});
  const found = useLoaded(isHidden ? null : (of?.id ?? TERMS), (signal) => readSameUnits(of?.id, signal));
  const groups = (found.value ?? []).map((units) => {
    const into = units.find((unit) => unit.id === kept[units[0].id]) ?? findUsual(units);
    return { units, into, others: units.filter((unit) => unit !== into) };
  });
  if (groups.length === 0) return null;
  const count = groups.reduce((sum, { others }) => sum + others.length, 0);
  const changed = (): void => {
    found.reload();
    onChanged();
  };
  return (
    <Card
      title="Units of the same meaning"
      bare
      actions={
        <Button small onClick={() => void merge(groups, changed)}>
          Merge {pluralize(count, "unit")}
        </Button>
      }
    >
      <ul class="list">
        {groups.map(({ units, into, others }) => (
          <li key={units[0].id}>
            {others.map((unit) => (
              <a key={unit.id} href={href(pagePath(TERMS, unit.id))}>
                {unit.name}
              </a>
            ))}
            <span class="row end">
              into
              <Select
                small
                label={`Unit that remains of ${units.map(({ name }) => name).join(", ")}`}
                value={into.id}
                choices={units.map((unit) => [unit.id, `${unit.name} (${unit.category__name})`] as const)}
                onChange={(chosen) => setKept({ ...kept, [units[0].id]: chosen })}
              />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

type Group = { into: Unit; others: readonly Unit[] };

/** Asks before it merges, with the number of records that change. */
const merge = (groups: readonly Group[], onChanged: () => void): Promise<void> =>
  withErrorToast(async () => {
    const merges = groups.flatMap(({ into, others }) =>
      others.map(({ id }) => ({ from: id, into: into.id })),
    );
    const send = (query: Record<string, string>) =>
      callForResponse("POST /api/v2/:list/merge/", { params: { list: TERMS }, query, body: { merges } });
    const preview = (await (await send({ dry_run: "1", changes: "0" })).json()) as unknown as Preview;
    const words = groups.map(
      ({ into, others }) => `${others.map(({ name }) => name).join(", ")} into ${into.name}`,
    );
    const units = pluralize(merges.length, "unit");
    const changed = pluralize(preview.records - merges.length, "record");
    confirm({
      title: `Merge ${units}?`,
      text: `${words.join("; ")}. ${changed} will have the other unit; amounts stay as they are. The merged units will be deleted.`,
      verb: `Merge ${units}`,
      look: "primary",
      run: async () => {
        showDone(`Merged ${units}.`, await send({ confirm: preview.confirm }), onChanged);
        onChanged();
      },
    });
  });
