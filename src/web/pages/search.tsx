import { href } from "../address.ts";
import { LinkButton } from "../components/button.tsx";
import { Empty } from "../components/empty.tsx";
import { Checkbox } from "../components/field.tsx";
import { Card, PageHead } from "../components/layout.tsx";
import { Loaded, SkeletonWord, useLoaded } from "../components/loaded.tsx";
import { SearchForm } from "../components/search-form.tsx";
import { formatCount } from "../format.tsx";
import { isPeople, pagePath, listTitle } from "../inventory/declaration.ts";
import { definePage, useQuery, useTitle } from "../page.tsx";
import { ClassList } from "../score/class-link.tsx";
import { ProteinList } from "../score/protein-search.tsx";
import { formatTotal, type Found, type FoundAnywhere, recordHref, searchAnywhere } from "../search/search.ts";
import { ResultPlace } from "../search/where.tsx";
import { countRecords } from "../inventory/read-list.ts";

/** Results of each list, and of one list. */
const [FEW, ALL] = [5, 500];

function SearchPage() {
  const [query, setQuery] = useQuery();
  const [q, list] = [query.get("q")?.trim() ?? "", query.get("list")];
  const withDeleted = query.get("deleted") === "all";
  useTitle(q === "" ? undefined : `${q} · Search`);
  const found = useLoaded(q === "" ? null : JSON.stringify([q, list, withDeleted]), (signal) =>
    searchAnywhere(q, { limit: list === null ? FEW : ALL, list, withDeleted }, signal),
  );
  return (
    <>
      <PageHead
        title={list === null ? "Search" : `Search in ${listTitle(list)}`}
        {...(list === null ? {} : { crumbs: [{ name: "All results", href: href("/search", { q }) }] })}
        actions={list !== null && <LinkButton href={listWith(list, q)}>Open the list</LinkButton>}
      />
      <div class="stack">
        <SearchForm
          key={q}
          q={q}
          placeholder="Names, barcodes, suppliers, lots, descriptions, annotations, notes, files"
          onSearch={(text) => setQuery({ q: text })}
        />
        <Checkbox
          label="Include deleted records"
          checked={withDeleted}
          onChange={(wanted) => setQuery({ deleted: wanted ? "all" : null })}
        />
        {q !== "" && <Loaded of={found}>{(of) => <Results of={of} q={q} list={list} />}</Loaded>}
      </div>
    </>
  );
}

function Results({ of, q, list }: { of: FoundAnywhere; q: string; list: string | null }) {
  const { records, proteins, classes } = of;
  const total = [records, proteins, classes].reduce((sum, group) => sum + (group?.total ?? 0), 0);
  if (total === 0)
    return (
      <Empty title="Nothing found" icon="search-x">
        <p role="status">
          No record that you can view, no protein and no motif class has all of these words. Use fewer words,
          or the beginning of one.
        </p>
      </Empty>
    );
  return (
    <>
      <p role="status" class="muted">
        {formatTotal({ total, more: records?.more ?? false })} found.
        {records?.more === true && " Add a word to see fewer."}
      </p>
      {(records?.groups ?? []).map((group) => (
        <Group key={group.list} of={group} q={q} isAlone={list !== null} />
      ))}
      {proteins !== undefined && proteins.total > 0 && <ProteinGroup of={proteins} />}
      {classes !== undefined && classes.total > 0 && <ClassGroup of={classes} q={q} />}
    </>
  );
}

function Group({ of, q, isAlone }: { of: Found["groups"][number]; q: string; isAlone: boolean }) {
  const { list, total, more, results } = of;
  const title = listTitle(list);
  return (
    <Card
      title={title}
      count={formatTotal({ total, more })}
      bare
      foot={!isAlone && total > results.length && <MoreLinks of={of} q={q} />}
    >
      <ul class="list found">
        {results.map((result) => (
          <li key={result.id}>
            <a href={recordHref(list, result.id)}>{result.name || "(no name)"}</a>
            <ResultPlace of={result} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** The page of a list with the records that have the words in their names. */
const listWith = (list: string, q: string): string => href(pagePath(list), { query: q });

/** Links to all results: to the list, and to results that were not found by name. */
function MoreLinks({ of: { list, total, more }, q }: { of: Found["groups"][number]; q: string }) {
  const named = useLoaded(isPeople(list) ? null : `${list} ${q}`, (signal) =>
    countRecords(list, { query: q }, signal),
  );
  if (named.busy) return <SkeletonWord />;
  const count = named.value ?? 0;
  const isComplete = !more && count === total;
  return (
    <>
      {count > 0 && (
        <a href={listWith(list, q)}>
          {isComplete ? "Show all" : "By name:"} {formatCount(count)} in {listTitle(list)}
        </a>
      )}
      {!isComplete && (
        <a href={href("/search", { q, list })}>
          {more ? `The best ${formatCount(total)} results` : `All ${formatCount(total)} results`}
        </a>
      )}
    </>
  );
}

const ProteinGroup = ({ of: { total, results } }: { of: NonNullable<FoundAnywhere["proteins"]> }) => (
  <Card
    title="Proteins"
    count={formatCount(total)}
    bare
    foot={total > results.length && "Add a word, such as a species, to see fewer."}
  >
    <ProteinList of={results} />
  </Card>
);

const ClassGroup = (props: { of: NonNullable<FoundAnywhere["classes"]>; q: string }) => {
  const { total, results } = props.of;
  const address = href("/classes", { q: props.q });
  return (
    <Card
      title="Motif classes"
      count={formatCount(total)}
      bare
      foot={total > results.length && <a href={address}>{`All ${formatCount(total)} motif classes`}</a>}
    >
      <ClassList of={results} />
    </Card>
  );
};

export const searchPage = definePage({
  name: "search",
  paths: ["/search"],
  title: "Search",
  View: SearchPage,
});
