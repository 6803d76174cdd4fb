import type { Comparison } from "../../scoring/index.ts";
import { FATE_NAMES, listChanges } from "../../scoring/table/match-changes.ts";
import { href } from "../address.ts";
import { Banner } from "../components/banner.tsx";
import { Empty } from "../components/empty.tsx";
import { Card, PageHead } from "../components/layout.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { pluralize } from "../format.tsx";
import { definePage, useQuery, useTitle } from "../page.tsx";
import { call } from "../request.ts";
import { ProteinIdentity, queryTitle, shortJobTitle } from "../score/protein-identity.tsx";
import { ComparedMatches, FlippedMatches, Side, type SideNames } from "../score/comparison.tsx";
import { ComparedTracks } from "../score/compared-tracks.tsx";
import { percent } from "../score/result.ts";

function ComparePage() {
  const [query] = useQuery();
  const [a, b] = [query.get("a") ?? "", query.get("b") ?? ""];
  const isAddress = a !== "" && b !== "";
  const comparison = useLoaded(isAddress ? `${a} ${b}` : null, (signal) =>
    call("GET /api/scoring/comparison", { query: { a, b }, signal }),
  );
  const title = comparison.value ? `${sidesTitle(comparison.value)}, compared` : "Comparison";
  useTitle(title);
  return (
    <>
      <PageHead title={title} crumbs={[{ name: "Scoring", href: href("/score") }]}>
        {comparison.value && (
          <>
            {isOneProtein(comparison.value) && (
              <ProteinIdentity of={comparison.value.a.protein ?? comparison.value.b.protein} />
            )}
            {summary(comparison.value)}
          </>
        )}
      </PageHead>
      {isAddress ? (
        <Loaded of={comparison}>{(value) => <Compared comparison={value} />}</Loaded>
      ) : (
        <Empty title="Two results are needed">
          <p>Open a result and choose “Compare with…”.</p>
        </Empty>
      )}
    </>
  );
}

const isOneProtein = ({ pairing }: Comparison): boolean =>
  pairing?.by === "position" && pairing.identity === 1;

/** The name of the protein, which one of the corpora may lack, or of both. */
function sidesTitle(comparison: Comparison): string {
  const { a, b } = comparison;
  if (isOneProtein(comparison)) return queryTitle(a.protein ? a : b, "Protein");
  return `${shortJobTitle(a)} and ${shortJobTitle(b)}`;
}

function summary(comparison: Comparison): string {
  const { flipped, matches, shared, pairing } = comparison;
  const verdicts = matches.some(({ change }) => change)
    ? `${pluralize(listChanges(matches).length, "match", "matches")} of ${matches.length} changed`
    : flipped === 0
      ? "No verdict changed"
      : `${pluralize(flipped, "verdict")} of ${matches.length} changed`;
  const fates = FATE_NAMES.map(
    (fate) => [matches.filter((match) => match.fate === fate).length, fate] as const,
  )
    .filter(([count]) => count > 0)
    .map((words) => words.join(" "));
  const how =
    pairing?.by === "none"
      ? "The sequences are not similar, so that no matches are paired"
      : `The sequences are ${percent(pairing!.identity!)} identical, paired by ${pairing!.by}`;
  const proteins = isOneProtein(comparison) ? "" : `Matches: ${fates.join(", ")}. ${how}. `;
  return `${proteins}${verdicts}. ${pluralize(shared, "homolog")} in both results.`;
}

function Compared({ comparison }: { comparison: Comparison }) {
  const { a, b } = comparison;
  const flipped = comparison.matches.filter(({ isFlipped }) => isFlipped);
  const names: SideNames = isOneProtein(comparison)
    ? ["First", "Second"]
    : [shortJobTitle(a), shortJobTitle(b)];
  return (
    <div class="stack">
      <Unequal {...{ a, b }} />
      <div class="columns">
        <Side title="First result" side={a} />
        <Side title="Second result" side={b} />
      </div>
      <ComparedTracks {...{ comparison, names }} />
      <ComparedMatches {...{ comparison, names }} />
      {flipped.length > 0 && (
        <Card title="Homologs behind the changed verdicts" bare>
          <FlippedMatches matches={flipped} />
        </Card>
      )}
    </div>
  );
}

/** Says that the results were not made alike. */
function Unequal({ a, b }: Pick<Comparison, "a" | "b">) {
  const corpus = ({ corpus }: Comparison["a"]): string => corpus?.name ?? "own alignment";
  const parts = [
    a.method !== b.method && `methods (${a.method} and ${b.method})`,
    a.model !== b.model && `models (${a.model} and ${b.model})`,
    a.corpus?.hash !== b.corpus?.hash && `collections of proteins (${corpus(a)} and ${corpus(b)})`,
  ].filter(Boolean);
  if (parts.length === 0) return null;
  return (
    <Banner tone="warn">
      The results are from different {parts.join(", and ")}: numbers may differ for that reason alone.
    </Banner>
  );
}

export const comparePage = definePage({
  name: "compare",
  paths: ["/score/compare"],
  title: "Comparison",
  View: ComparePage,
});
