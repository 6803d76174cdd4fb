import type { Comparison } from "../../scoring/index.ts";
import { listChanges } from "../../scoring/table/match-changes.ts";
import { href } from "../address.ts";
import { Empty } from "../components/empty.tsx";
import { Card, PageHead } from "../components/layout.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { pluralize } from "../format.tsx";
import { definePage, useQuery, useTitle } from "../page.tsx";
import { call } from "../request.ts";
import { ProteinIdentity, queryTitle } from "../score/protein-identity.tsx";
import { ComparedMatches, FlippedMatches, Side } from "../score/comparison.tsx";

const NAMES = ["First", "Second"] as const;

function ComparePage() {
  const [query] = useQuery();
  const [a, b] = [query.get("a") ?? "", query.get("b") ?? ""];
  const isAddress = a !== "" && b !== "";
  const comparison = useLoaded(isAddress ? `${a} ${b}` : null, (signal) =>
    call("GET /api/scoring/comparison", { query: { a, b }, signal }),
  );
  const title = comparison.value ? `${sideTitle(comparison.value)}, compared` : "Comparison";
  useTitle(title);
  return (
    <>
      <PageHead title={title} crumbs={[{ name: "Scoring", href: href("/score") }]}>
        {comparison.value && (
          <>
            <ProteinIdentity of={comparison.value.a.protein ?? comparison.value.b.protein} />
            {summary(comparison.value)}
          </>
        )}
      </PageHead>
      {isAddress ? (
        <Loaded of={comparison}>{(value) => <Compared comparison={value} />}</Loaded>
      ) : (
        <Empty title="Two results are needed">
          <p>
            Score a protein again with other homologs or with a variant, and choose “Compare with the first”
            on the result.
          </p>
        </Empty>
      )}
    </>
  );
}

/** The name of the protein, which one of the corpora may lack. */
const sideTitle = ({ a, b }: Comparison): string => queryTitle(a.protein ? a : b, "Protein");

function summary({ flipped, matches, shared }: Comparison): string {
  const verdicts = matches.some(({ change }) => change)
    ? `${pluralize(listChanges(matches).length, "match", "matches")} of ${matches.length} changed`
    : flipped === 0
      ? "No verdict changed"
      : `${pluralize(flipped, "verdict")} of ${matches.length} changed`;
  return `${verdicts}. ${pluralize(shared, "homolog")} in both results.`;
}

function Compared({ comparison }: { comparison: Comparison }) {
  const flipped = comparison.matches.filter(({ isFlipped }) => isFlipped);
  return (
    <div class="stack">
      <div class="columns">
        <Side title="First result" side={comparison.a} />
        <Side title="Second result" side={comparison.b} />
      </div>
      <ComparedMatches comparison={comparison} names={NAMES} />
      {flipped.length > 0 && (
        <Card title="Homologs behind the changed verdicts" bare>
          <FlippedMatches matches={flipped} />
        </Card>
      )}
    </div>
  );
}

export const comparePage = definePage({
  name: "compare",
  paths: ["/score/compare"],
  title: "Comparison",
  View: ComparePage,
});
