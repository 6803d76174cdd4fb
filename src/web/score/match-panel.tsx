import type { AppliedClassModel, MatchScore } from "../../scoring/index.ts";
import { findVerdict, VERDICTS } from "../../scoring/table/verdict.ts";
import { useState } from "preact/hooks";
import { href } from "../address.ts";
import { MotifLink } from "./class-link.tsx";
import { Banner } from "../components/banner.tsx";
import { IconButton } from "../components/button.tsx";
import { KeyValues } from "../components/layout.tsx";
import { capitalized, pluralize } from "../format.tsx";
import { ClassModelView } from "./class-model.tsx";
import { explainMatch, helpOf, partsOf, TERMS } from "./explain-match.ts";
import { historyText } from "./history-text.ts";
import { motifQuery } from "./proteome.ts";
import { RandomMatchesChart } from "./random-matches.tsx";
import {
  CONSERVATION,
  countMissing,
  decimal,
  type NumberedMatch,
  type Result,
  oddsText,
  probabilityText,
  overallP,
  formatPValue,
  roundedParts,
  shorten,
  TONES,
  VERDICT_HELP,
} from "./result.ts";

type Contributions = NonNullable<MatchScore["contributions"]>;

/** All facts about one match: verdict, homologs, and the evidence behind both. */
export function MatchPanel(props: {
  result: Result;
  match: NumberedMatch;
  onPrevious: (() => void) | undefined;
  onNext: (() => void) | undefined;
}) {
  const { result, match } = props;
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
          <MotifLink of={pattern} />: {pattern.explanation}.{" "}
          <a href={href("/proteome", motifQuery(pattern))}>Search a proteome for it</a>
        </p>
        <Parts {...{ result, match }} />
        {match.warnings.map((warning) => (
          <Banner key={warning} tone="warn">
            {warning}
          </Banner>
        ))}
        {contributions && match.z !== null && <Evidence contributions={contributions} z={match.z} />}
        {pattern.classModel && match.z !== null && <KnownInstances of={pattern.classModel} />}
        {pattern.randomMatches && match.z !== null && (
          <RandomMatchesChart of={pattern.randomMatches} z={match.z} />
        )}
      </div>
    </section>
  );
}

function Parts({ result, match }: { result: Result; match: NumberedMatch }) {
  const verdict = findVerdict(match);
  const p = overallP(match);
  return (
    <>
      <div class={`part tone-${TONES[verdict]}`}>
        <b>{VERDICTS[verdict]}</b>
        {p.p !== null && <span>P&nbsp;{formatPValue(p)}</span>}
        <small>
          {oddsText(p, ["scores as high", "score as high"])} {probabilityText(match, result.prior)}
        </small>
      </div>
      {explainMatch(match).map((sentence) => (
        <p key={sentence} class="hint">
          {sentence}
        </p>
      ))}
      <details class="hint">
        <summary>What the verdict means</summary>
        <KeyValues of={VERDICT_HELP} />
      </details>
      {match.atHomologs.length > 0 && <Conservation {...{ result, match }} />}
    </>
  );
}

/** The number of homologs that keep the match, and whether its surroundings explain it. */
function Conservation({ result, match }: { result: Result; match: NumberedMatch }) {
  const { conservationLevel, score, expected, pValue, pValueIs, kept, nearby, homologs } = match;
  const missing = countMissing(match);
  const p = { p: pValue, is: pValueIs };
  const numbers =
    pValue === null ? "" : ` (expected CS\u00A0${decimal(expected)}, P\u00A0${formatPValue(p)})`;
  const notes = [
    nearby > 0 && `${nearby} more ${nearby === 1 ? "has" : "have"} it nearby, within ten residues.`,
    missing > 0 &&
      homologs > 0 &&
      `${pluralize(missing, "other homolog")} ${missing === 1 ? "does" : "do"} not reach this site.`,
  ];
  return (
    <div class="part">
      <b>
        {homologs === 0
          ? "No homolog reaches this site"
          : `In place in ${kept} of ${pluralize(homologs, "homolog")}`}
      </b>
      {score !== null && <span>CS&nbsp;{decimal(score)}</span>}
      <small>
        {CONSERVATION[conservationLevel].sentence}
        {numbers}. {oddsText(p, ["is kept this well", "are kept this well"])}
      </small>
      <small>{notes.filter(Boolean).join(" ")}</small>
      <small>{keptByRelation(match)}</small>
      <small>{historyText(result, match)}</small>
    </div>
  );
}

/** `In orthologs 11 of 12 in place, 1 nearby, CS 0.97; in paralogs …`; empty if species are unknown. */
function keptByRelation({ orthologs, paralogs }: NumberedMatch): string {
  const parts = Object.entries({ orthologs, paralogs }).flatMap(([name, of]) => {
    if (!of || of.homologs === 0) return [];
    const nearby = of.nearby > 0 ? `, ${of.nearby} nearby` : "";
    return [`in ${name} ${of.kept} of ${of.homologs} in place${nearby}, CS\u00A0${decimal(of.score)}`];
  });
  return parts.length === 0 ? "" : `${capitalized(parts.join("; "))}.`;
}

const EVIDENCE_FOR_CLASS = "mark tone-likely";

const Swatch = ({ kind }: { kind: string }) => (
  <svg width="12" height="8" aria-hidden="true">
    <rect class={kind} width="12" height="8" rx="2" />
  </svg>
);

/** Contribution that fills half of a bar. */
const FULL_SCALE = 2;

function Evidence({ contributions, z }: { contributions: Contributions; z: number }) {
  const entries = partsOf(contributions);
  const parts = roundedParts(
    entries.map(([, value]) => value),
    z,
  );
  const sorted = entries
    .map(([name, own], i) => ({ term: TERMS[name], help: helpOf(name, own), value: parts[i] }))
    .toSorted((a, b) => b.value - a.value);
  return (
    <>
      <table class="evidence">
        <caption>
          Evidence{" "}
          <span class="legend">
            <Swatch kind={EVIDENCE_FOR_CLASS} /> for <Swatch kind="against" /> against
          </span>
        </caption>
        <thead class="unseen">
          <tr>
            <th scope="col">Evidence</th>
            <th scope="col">Evidence for or against</th>
            <th scope="col">Contribution to z</th>
          </tr>
        </thead>
        <tbody>
          {sorted.map(({ term, value }) => (
            <tr key={term.name}>
              <th scope="row">{term.name}</th>
              <td>
                <Bar value={value} />
              </td>
              <td class="num">{value > 0 ? `+${decimal(value)}` : decimal(value)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">Sum: score z</th>
            <td />
            <td class="num">{decimal(z)}</td>
          </tr>
        </tfoot>
      </table>
      <details class="hint">
        <summary>What the evidence means</summary>
        <KeyValues of={sorted.map(({ term, help }) => [term.name, help])} />
      </details>
    </>
  );
}

/** The class model behind a bar of the evidence. */
function KnownInstances({ of }: { of: AppliedClassModel }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="hint" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Known instances of the class: {of.instances}</summary>
      {isOpen && <ClassModelView name={of.hash} />}
    </details>
  );
}

function Bar({ value }: { value: number }) {
  const width = Math.min(1, Math.abs(value) / FULL_SCALE) * 50;
  return (
    <svg class="bar" width="100%" height="12" aria-hidden="true">
      <rect
        class={value < 0 ? "against" : EVIDENCE_FOR_CLASS}
        x={`${value < 0 ? 50 - width : 50}%`}
        y="1"
        width={`${width}%`}
        height="10"
      />
      <line x1="50%" x2="50%" y1="0" y2="12" />
    </svg>
  );
}
