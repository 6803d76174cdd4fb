import type { MatchScore } from "../../scoring/index.ts";
import { Banner } from "../components/banner.tsx";
import { IconButton } from "../components/button.tsx";
import {
  decimal,
  insufficientText,
  nameOf,
  type NumberedMatch,
  oddsText,
  pText,
  shorten,
  tally,
  VERDICTS,
} from "./result.ts";

type Contributions = NonNullable<MatchScore["contributions"]>;

/** What the parts of z are called; the bars add up to z. */
const TERMS: Readonly<Record<keyof Contributions, { name: string; help: string }>> = {
  retention: { name: "Retained more than expected", help: "compared with the diversity of its surroundings" },
  lossRate: { name: "Rarely lost", help: "along the branches of the tree" },
  divergence: { name: "Variable surroundings", help: "as is typical around functional motifs" },
  disorder: { name: "Disordered region", help: "in the homologs, so that a partner can reach it" },
  chain: { name: "Disorder elsewhere", help: "much of the protein is disordered" },
  burial: { name: "Hydrophobic segment", help: "a membrane or a core would hide it" },
  charge: { name: "Acidic surroundings", help: "net charge of the region" },
  serThrFraction: { name: "Ser and Thr nearby", help: "in the region" },
  terminusProximity: { name: "Near a terminus", help: "of the protein" },
  abundance: { name: "Frequent in this protein", help: "more matches than expected by chance" },
  offset: { name: "Baseline of all matches", help: "the same for every match" },
};

/** What is known about one match: verdict, homologs, and the evidence behind both. */
export function MatchPanel(props: {
  match: NumberedMatch;
  onPrevious: (() => void) | undefined;
  onNext: (() => void) | undefined;
}) {
  const { match } = props;
  const { start, end, text, pattern, contributions } = match;
  return (
    <section class="card match-panel" aria-labelledby="match">
      <div class="card-head">
        <h2 id="match">
          <code>{shorten(text, 24)}</code>{" "}
          <span class="count">
            {start}–{end}
          </span>
        </h2>
        <IconButton
          icon="arrow-up"
          label="Previous match"
          disabled={!props.onPrevious}
          onClick={props.onPrevious}
        />
        <IconButton icon="arrow-down" label="Next match" disabled={!props.onNext} onClick={props.onNext} />
      </div>
      <div class="card-body">
        <p class="hint">
          <code>{nameOf(pattern)}</code>: {pattern.explanation}
        </p>
        <Parts match={match} />
        {match.warnings.map((warning) => (
          <Banner key={warning} tone="warn">
            {warning}
          </Banner>
        ))}
        {contributions && <Evidence contributions={contributions} z={match.z} />}
      </div>
    </section>
  );
}

function Parts({ match }: { match: NumberedMatch }) {
  const { verdict, score, expected, homologs, pValue } = match;
  const { kept, shifted, missing } = tally(match);
  const notes = [
    expected !== null && `Expected from its surroundings: ${decimal(expected)}.`,
    shifted > 0 && `${shifted} more ${shifted === 1 ? "has" : "have"} it nearby.`,
    missing > 0 && `${missing} ${missing === 1 ? "does" : "do"} not reach this site.`,
  ];
  return (
    <>
      <div class={`part tone-${VERDICTS[verdict].tone}`}>
        <b>{VERDICTS[verdict].name}</b>
        {pValue !== null && <span>P {pText(match)}</span>}
        <small>{pValue === null ? insufficientText(match) : oddsText(match)}</small>
      </div>
      <div class="part">
        <b>
          Kept in {kept} of {homologs} homologs
        </b>
        {score !== null && <span>score {decimal(score)}</span>}
        <small>{notes.filter(Boolean).join(" ")}</small>
      </div>
    </>
  );
}

const FOR = "mark tone-likely";

const Swatch = ({ kind }: { kind: string }) => (
  <svg width="12" height="8" aria-hidden="true">
    <rect class={kind} width="12" height="8" rx="2" />
  </svg>
);

/** Contribution that fills half of a bar. */
const FULL = 2;

function Evidence({ contributions, z }: { contributions: Contributions; z: number | null }) {
  const { offset, ...terms } = contributions;
  const sorted = Object.entries(terms).toSorted(([, a], [, b]) => b - a) as [keyof Contributions, number][];
  return (
    <table class="evidence">
      <caption>
        Evidence{" "}
        <span class="legend">
          <Swatch kind={FOR} /> for <Swatch kind="against" /> against
        </span>
      </caption>
      <thead class="unseen">
        <tr>
          <th scope="col">Evidence</th>
          <th scope="col">For or against</th>
          <th scope="col">Contribution to z</th>
        </tr>
      </thead>
      <tbody>
        {[...sorted, ["offset", offset] as const].map(([name, value]) => {
          const width = Math.min(1, Math.abs(value) / FULL) * 50;
          return (
            <tr key={name} title={TERMS[name].help}>
              <th scope="row">{TERMS[name].name}</th>
              <td>
                <svg class="bar" width="100%" height="12" aria-hidden="true">
                  <rect
                    class={name === "offset" ? "mark tone-none" : value < 0 ? "against" : FOR}
                    x={`${value < 0 ? 50 - width : 50}%`}
                    y="1"
                    width={`${width}%`}
                    height="10"
                  />
                  <line x1="50%" x2="50%" y1="0" y2="12" />
                </svg>
              </td>
              <td class="num">{value > 0 ? `+${decimal(value)}` : decimal(value)}</td>
            </tr>
          );
        })}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">Score z</th>
          <td />
          <td class="num">{decimal(z)}</td>
        </tr>
      </tfoot>
    </table>
  );
}
