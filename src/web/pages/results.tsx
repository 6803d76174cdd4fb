import { href } from "../address.ts";
import { LinkButton } from "../components/button.tsx";
import { ChipChoice } from "../components/segment.tsx";
import { PageHead } from "../components/layout.tsx";
import { definePage, useQuery } from "../page.tsx";
import { ResultList, type ResultKind } from "../score/recent-results.tsx";

const CHOICES: readonly (readonly [ResultKind | "", string])[] = [
  ["", "All results"],
  ["job", "Scores and scans"],
  ["batch", "Batches"],
  ["proteome-search", "Proteome searches"],
];

function Results() {
  const [query, setQuery] = useQuery();
  const kind = CHOICES.find(([value]) => value === query.get("kind"))?.[0] ?? "";
  return (
    <div class="stack">
      <PageHead title="Results" actions={<LinkButton href={href("/changes")}>What changed</LinkButton>}>
        Your scores, scans, batches and proteome searches, the newest first.
      </PageHead>
      <div class="row" role="group" aria-label="Kind">
        <ChipChoice choices={CHOICES} value={kind} onChange={(value) => setQuery({ kind: value || null })} />
      </div>
      <ResultList
        key={kind}
        title={CHOICES.find(([value]) => value === kind)![1]}
        {...(kind !== "" && { kinds: [kind] })}
      />
    </div>
  );
}

export const resultsPage = definePage({
  name: "results",
  paths: ["/results"],
  title: "Results",
  View: Results,
});
