import { href } from "../address.ts";
import { SearchForm } from "../components/search-form.tsx";
import { Card, PageHead } from "../components/layout.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { definePage, useQuery } from "../page.tsx";
import { findProteins, ProteinList } from "../score/protein-search.tsx";
import { NoCorpus } from "../score/score-form.tsx";

/** Proteins that the page lists. */
const MOST = 50;

/** Finds proteins of the corpus, and leads to their pages. */
function Proteins() {
  const [query, setQuery] = useQuery();
  const q = query.get("q")?.trim() ?? "";
  const found = useLoaded(q || null, (signal) => findProteins(q, signal, MOST));
  return (
    <>
      <PageHead title="Proteins" crumbs={[{ name: "Motif scoring", href: href("/score") }]}>
        Everything about one protein on one page: known motifs, scored matches, homologs, structure and
        variants.
      </PageHead>
      <div class="stack">
        <NoCorpus />
        <SearchForm
          key={q}
          q={q}
          placeholder="Gene, name, species or accession, such as TP53 human"
          onSearch={(text) => setQuery({ q: text })}
        />
        {q !== "" && (
          <Loaded of={found}>
            {({ options, note, areNear }) => (
              <Card title={areNear ? "Near misses" : "Proteins"} bare foot={!areNear && note}>
                {areNear && (
                  <p class="card-body" role="status">
                    {note}
                  </p>
                )}
                <ProteinList of={options} />
              </Card>
            )}
          </Loaded>
        )}
      </div>
    </>
  );
}

export const proteinsPage = definePage({
  name: "proteins",
  paths: ["/proteins"],
  title: "Proteins",
  View: Proteins,
});
