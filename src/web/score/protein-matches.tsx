import { MATCH_TABLES } from "../../scoring/table/match-tables.ts";
import { findVerdict, VERDICTS } from "../../scoring/table/verdict.ts";
import { href } from "../address.ts";
import { Card } from "../components/layout.tsx";
import { pluralize, listFirst } from "../format.tsx";
import { useQuery } from "../page.tsx";
import { placeText } from "./features.ts";
import { Rows } from "./match-table.tsx";
import { useMatchView } from "./match-view.ts";
import { knownMotifs, type Protein, type ProteinJob, type ProteinMatch } from "./protein.ts";
import { countVerdicts } from "./result.ts";
import { type ClassName, usePlaces } from "./scan.ts";
import { placeCells, placeRows } from "./scan-matches.tsx";
import { onPlainClick } from "../components/plain-click.ts";

/** Rows before "Show all". */
const FIRST = 6;
/** Known motifs that the headline names. */
const NAMED = 4;
const COLUMNS = ["motif", "start", "verdict", "kept", "overall_p"];

/** What is known in the protein, and the best match that is not known. */
export function ProteinAnswer(props: {
  of: Protein;
  matches: readonly ProteinMatch[] | undefined;
  findClass: (motif: string) => ClassName;
}) {
  const { of, matches = [], findClass } = props;
  const known = knownMotifs(of);
  const names = known.map((motif) => `${findClass(motif.name).name} at ${placeText(motif)}`);
  const best = matches.find((match) => findVerdict(match) !== "known instance");
  return (
    <div class="answer">
      <p>
        {known.length > 0
          ? `${pluralize(known.length, "known motif")}: ${listFirst(names, NAMED)}.`
          : "No motif is known in this protein."}
      </p>
      <small>
        {matches.length > 0 && `${countVerdicts(matches)} `}
        {best &&
          `The best that is not known is ${findClass(best.motif).name} at ${best.start}–${best.end}, ${VERDICTS[findVerdict(best)].toLowerCase()}.`}
        {props.matches?.length === 0 &&
          "No match of it has been scored yet, or the results are not kept any more."}
      </small>
    </div>
  );
}

/** The places of the scored matches of all results, the best first; a row chooses the match that the other cards show. */
export function ProteinMatches(props: {
  matches: readonly ProteinMatch[];
  jobs: readonly ProteinJob[];
  selected: string;
  findClass: (motif: string) => ClassName;
}) {
  const { matches, jobs, selected, findClass } = props;
  const [query, setQuery] = useQuery();
  const view = useMatchView(MATCH_TABLES.scan, matches);
  const { places } = usePlaces(matches, view);
  const all =
    jobs.length === 1 ? href(`/scan/${jobs[0].id}`) : href("/scans", { job: jobs.map(({ id }) => id) });
  return (
    <Card
      title="Scored matches"
      count={`at ${pluralize(places.length, "place")}`}
      bare
      actions={<a href={all}>{`All ${pluralize(matches.length, "match", "matches")}`}</a>}
    >
      <Rows
        table={MATCH_TABLES.scan}
        title="Scored matches"
        caption="Scored matches"
        {...placeRows(view, places)}
        selected={selected}
        all={matches}
        rowKey={({ key }) => key}
        first={FIRST}
        count={{ text: "", shown: pluralize(places.length, "place") }}
        columns={COLUMNS}
        own={placeCells<ProteinMatch>(findClass, ({ key, start }, name) => (
          <a
            href={`?${new URLSearchParams({ ...Object.fromEntries(query), match: key })}`}
            aria-current={key === selected ? "true" : undefined}
            onClick={onPlainClick(() => setQuery({ match: key }, { replace: true }))}
          >
            {name}
            <span class="unseen">{` at ${start}`}</span>
          </a>
        ))}
      />
    </Card>
  );
}
