import { href } from "../address.ts";
import { Card } from "../components/layout.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { formatCount } from "../format.tsx";
import { formatAmount } from "../../inventory/model/unit.ts";
import { type Declaration, pagePath } from "./declaration.ts";
import { readList } from "./read-list.ts";
import { findStockState, isNamed, type Row, stateText } from "./record.tsx";

/** Where stock comes from: the record that it is an aliquot of, the other aliquots, and its own. */

/** Aliquots that are shown. */
const SHOWN = 50;

interface Tube {
  id: string;
  name: string;
  status: string;
  amount: number | null;
  unit__name: string | null;
  below_minimum: boolean;
  expiry: string | null;
  taken_out: boolean;
  location__unique_path: string | null;
  position: string;
  aliquot_of: string | null;
}

const FIELDS =
  "id,name,status,amount,unit__name,below_minimum,expiry,taken_out,location__unique_path,position,aliquot_of";

/** The records of a family that the caller may view: lists leave the others out, and do not count them. */
async function readFamily(list: string, me: string, source: string | undefined, signal: AbortSignal) {
  const query = {
    fields: FIELDS,
    response_format: "flat",
    ordering: "name__natural",
    page_size: `${SHOWN}`,
  };
  const read = (filter: Record<string, string>) => readList<Tube>(list, { ...filter, ...query }, signal);
  const [own, sources, mine, siblings] = await Promise.all([
    read({ id: me }),
    source === undefined ? undefined : read({ id: source }),
    read({ aliquot_of: me }),
    source === undefined ? undefined : read({ aliquot_of: source }),
  ]);
  const others = siblings?.results.filter(({ id }) => id !== me) ?? [];
  return {
    own: own.results.at(0),
    source: sources?.results.at(0),
    mine: mine.results,
    others,
    moreOfMine: mine.total - mine.results.length,
    // The record itself is one of them.
    moreOthers: siblings ? siblings.total - 1 - others.length : 0,
  };
}

/** The family of a record as a tree; nothing for a record without one. */
export function Lineage({ of, row }: { of: Declaration; row: Row }) {
  const { aliquot_of: source } = row.values;
  const from = isNamed(source) ? String(source.id) : undefined;
  const isStock = "aliquot_of" in of.fields;
  const family = useLoaded(isStock ? `${of.name} ${row.id} ${row.version} lineage` : null, (signal) =>
    readFamily(of.name, row.id, from, signal),
  ).value;
  if (!family?.own || !(family.source ?? [...family.mine, ...family.others].at(0))) return null;
  const siblings = (
    <>
      <li class="me" aria-current="true">
        <Node of={of} tube={family.own} isMe />
        {family.mine.length > 0 && (
          <ul>
            <Aliquots of={of} tubes={family.mine} source={row.id} more={family.moreOfMine} />
          </ul>
        )}
      </li>
      <Aliquots of={of} tubes={family.others} source={from} more={family.moreOthers} />
    </>
  );
  return (
    <Card title="Where it comes from">
      <ul class="lineage">
        {family.source ? (
          <li>
            <Node of={of} tube={family.source} />
            <ul>{siblings}</ul>
          </li>
        ) : (
          siblings
        )}
      </ul>
    </Card>
  );
}

interface AliquotsProps {
  of: Declaration;
  tubes: readonly Tube[];
  /** Id of the record that they are aliquots of. */
  source: string | undefined;
  /** Number of those that are not shown. */
  more: number;
}

const Aliquots = ({ of, tubes, source, more }: AliquotsProps) => (
  <>
    {tubes.map((tube) => (
      <li key={tube.id}>
        <Node of={of} tube={tube} />
      </li>
    ))}
    {more > 0 && (
      <li>
        <span class="lin">
          <a href={href(pagePath(of.name), { aliquot_of: source })}>and {formatCount(more)} more</a>
        </span>
      </li>
    )}
  </>
);

/** A tube with its state, its amount, and where it is. */
function Node({ of, tube, isMe = false }: { of: Declaration; tube: Tube; isMe?: boolean }) {
  const amount =
    tube.amount === null ? "" : formatAmount({ value: tube.amount, unit: tube.unit__name ?? "" });
  const place = [tube.location__unique_path, tube.position].filter(Boolean).join(", ");
  return (
    <span class="lin">
      <span class={`state state-${findStockState(tube)}`}>
        <span class="unseen">{stateText(tube)}</span>
      </span>
      {isMe ? <b>{tube.name}</b> : <a href={href(pagePath(of.name, tube.id))}>{tube.name}</a>}
      <small>{[amount, place].filter(Boolean).join(", ")}</small>
    </span>
  );
}
