import { useState } from "preact/hooks";
import { SelectField } from "../components/field.tsx";
import { type Column, type Order, Table } from "../components/table.tsx";
import { inOrder, sortable } from "./order.ts";
import { decimal, type NumberedMatch, percent, type Result, type State } from "./result.ts";

type Relation = NonNullable<Result["homologs"][number]["relation"]>;
type Row = NumberedMatch["atHomologs"][number] & Result["homologs"][number];

const numeric = { numeric: true };
const COLUMNS: readonly Column<Row>[] = [
  sortable("accession", "Homolog", ({ accession }) => accession, { heading: true }),
  sortable("organism", "Organism", ({ organism }) => organism && <em>{organism}</em>),
  sortable("gene", "Gene", ({ gene }) => gene ?? ""),
  { name: "description", title: "Protein", cell: ({ description }) => description },
  sortable("relation", "Relation", ({ relation }) => relation ?? ""),
  sortable("state", "Site", ({ state }) => (
    <span class="nowrap">
      <svg width={14} height={14} aria-hidden="true">
        <StateMark state={state} x={7} y={8} />
      </svg>{" "}
      {STATES[state]}
    </span>
  )),
  { name: "residues", title: "Residues", cell: ({ residues }) => <code>{residues}</code> },
  sortable("retention", "Retention", ({ retention }) => decimal(retention), numeric),
  sortable("identity", "Identity", ({ identity }) => percent(identity), numeric),
  sortable("weight", "Weight", ({ weight }) => decimal(weight, 3), numeric),
];

/** The data of the alignment as a table. */
export function HomologTable({ result, match }: { result: Result; match: NumberedMatch }) {
  const [order, setOrder] = useState<Order>("");
  const [state, setState] = useState<State | "">("");
  const [relation, setRelation] = useState<Relation | "">("");
  const rows = match.atHomologs
    .filter((at) => state === "" || at.state === state)
    .map((at): Row => Object.assign({}, result.homologs[at.homolog], at))
    .filter((row) => relation === "" || row.relation === relation);
  const present = [...new Set(match.atHomologs.map((at) => at.state))];
  return (
    <details class="card">
      <summary class="card-head">
        <h2>Homologs as a table</h2>
      </summary>
      <div class="card-body narrow">
        <SelectField<State | "">
          label="Site"
          value={state}
          choices={[{ value: "", name: "all" }, ...present.map((value) => ({ value, name: STATES[value] }))]}
          onChange={setState}
        />
        <SelectField<Relation | "">
          label="Relation"
          value={relation}
          choices={[
            { value: "", name: "all" },
            { value: "ortholog", name: "orthologs" },
            { value: "paralog", name: "paralogs" },
          ]}
          onChange={setRelation}
        />
      </div>
      <Table
        caption="Homologs"
        columns={COLUMNS}
        rows={inOrder(rows, order, (row, name) => row[name as keyof Row] as number | string | null)}
        rowKey={({ homolog }) => homolog}
        hideEmpty
        order={order}
        onOrder={setOrder}
      />
    </details>
  );
}

/** The residues of a homolog at the site of a match. */
export const STATES: Readonly<Record<State, string>> = {
  conserved: "kept",
  shifted: "nearby",
  substituted: "lost: substituted",
  gap: "lost: deleted",
  missing: "not covered",
};

/** The shape of a state, so that colour is not all that tells it. */
export function StateMark({ state, x, y }: { state: State; x: number; y: number }) {
  const shape = {
    conserved: <circle cx={x} cy={y} r={4} />,
    shifted: <path d={`M${x} ${y - 5}l5 5l-5 5l-5 -5z`} />,
    substituted: <path d={`M${x - 3.5} ${y - 3.5}l7 7m0 -7l-7 7`} />,
    gap: <path d={`M${x - 4.5} ${y}h9`} />,
    missing: <circle cx={x} cy={y} r={3.5} />,
  }[state];
  return <g class={`state-mark ${state}`}>{shape}</g>;
}
