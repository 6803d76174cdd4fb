import { CLASS_TYPES } from "../../scoring/table/match-values.ts";
import { ChipChoice } from "../components/segment.tsx";
import { Empty } from "../components/empty.tsx";
import { Card, PageHead } from "../components/layout.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { SearchForm } from "../components/search-form.tsx";
import { type Column, Table } from "../components/table.tsx";
import { capitalized } from "../format.tsx";
import { definePage, useQuery } from "../page.tsx";
import { call } from "../request.ts";
import { classHref, classTitle, classType, type MotifClass } from "../score/class-link.tsx";

/** Classes before "Show all". */
const FIRST = 60;

const TYPES: readonly (readonly [string, string])[] = [
  ["", "All types"],
  ...Object.entries(CLASS_TYPES).map(([type, name]) => [type, capitalized(name)] as const),
];

const COLUMNS: readonly Column<MotifClass>[] = [
  {
    name: "name",
    title: "Motif class",
    heading: true,
    cell: (one) => (
      <>
        <a href={classHref(one.name)}>{classTitle(one)}</a>
        {one.title !== "" && <small class="second-line">{one.name}</small>}
      </>
    ),
  },
  { name: "type", title: "Type", phone: "end", cell: classType },
  {
    name: "expression",
    title: "Pattern",
    phone: "line",
    cell: ({ expression }) => <code>{expression}</code>,
  },
  { name: "description", title: "Function", phone: "hide", cell: ({ description }) => description },
  { name: "model", title: "Learned from", numeric: true, cell: ({ model }) => model?.instances },
];

/** All motif classes, found by any word of their names, pattern or function. */
function Classes() {
  const [query, setQuery] = useQuery();
  const q = query.get("q")?.trim() ?? "";
  const type = query.get("type") ?? "";
  const found = useLoaded(q, (signal) =>
    call("GET /api/scoring/motif-classes", { query: { query: q }, signal }),
  );
  return (
    <>
      <PageHead title="Motif classes">
        Named motifs: what they bind, where they work, and their known instances.
      </PageHead>
      <div class="stack">
        <SearchForm
          key={q}
          q={q}
          placeholder="Name, partner or pattern, such as SH3"
          onSearch={(text) => setQuery({ q: text || null })}
        />
        <div class="row" role="group" aria-label="Type">
          <ChipChoice choices={TYPES} value={type} onChange={(value) => setQuery({ type: value || null })} />
        </div>
        <Loaded of={found}>
          {({ results }) => {
            const rows = results.filter((one) => type === "" || one.type === type);
            return rows.length === 0 ? (
              <Empty title="No motif class has all of these words" icon="search-x">
                <p role="status">Use fewer words, or choose all types.</p>
              </Empty>
            ) : (
              <Card title="Motif classes" count={rows.length} bare>
                <Table
                  key={`${q} ${type}`}
                  caption="Motif classes"
                  columns={COLUMNS}
                  rows={rows}
                  rowKey={({ name }) => name}
                  first={{ rows: FIRST, of: "classes" }}
                  hideEmpty
                />
              </Card>
            );
          }}
        </Loaded>
      </div>
    </>
  );
}

export const classesPage = definePage({
  name: "classes",
  paths: ["/classes"],
  title: "Motif classes",
  View: Classes,
});
