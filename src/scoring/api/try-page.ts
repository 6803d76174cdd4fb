import { SCORING_MODELS, type Prediction } from "../../motif/index.ts";
import type { Problem } from "../../problem.ts";
import { type Html, markup } from "../../platform/html.ts";
import type { MotifClass } from "../corpus/motif-classes.ts";
import { printDecimal } from "./result-rows.ts";

/** The form by which people try the service from a browser, and the page that shows what came of it. No scripts. */

export const TRY_FIELDS = ["protein", "patterns", "motifClasses", "scoringModel"] as const;
export type TryField = (typeof TRY_FIELDS)[number];
export type TryValues = Record<TryField, string>;

const STYLE = `
  :root { color-scheme: light dark; --line: light-dark(#d5d9e0, #3a404a); --link: light-dark(#0b5cad, #8ec5ff); --bad: light-dark(#a11, #f99); }
  body { font: 17px/1.55 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 2.5rem 1.25rem; }
  h1 { font-size: 1.6rem; margin: 0; overflow-wrap: anywhere; } h2 { font-size: 1.15rem; margin: 1.6rem 0 .35rem; }
  a { color: var(--link); } :focus-visible { outline: 3px solid; outline-offset: 2px; }
  label { display: block; margin: .9rem 0 .2rem; font-weight: 600; } small { font-weight: 400; }
  textarea, select { font: .9rem/1.4 ui-monospace, monospace; width: 100%; box-sizing: border-box; padding: .4rem; }
  button { font: inherit; margin-top: 1rem; padding: .4rem 1.2rem; }
  [role=alert] { color: var(--bad); border: 1px solid; border-radius: .6rem; padding: .6rem 1rem; }
  .wide { overflow-x: auto; } table { border-collapse: collapse; font-size: .9rem; }
  td, th { text-align: left; padding: .3rem .8rem .3rem 0; border-top: 1px solid var(--line); white-space: nowrap; }
  code { overflow-wrap: anywhere; }
`;

function page(home: string, title: string, content: Html, head?: Html): string {
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – labd</title>
${head}<style>${STYLE}</style>
</head>
<body>
<main>
<p><a href="${home}">labd</a></p>
${content}
</main>
</body>
</html>
`.text;
}

/** The form. After a refusal it comes back as it was filled in, with what was wrong. */
export function tryForm(
  action: string,
  values: TryValues,
  classes: readonly MotifClass[],
  problem?: Problem,
): Html {
  const names = classes.map(({ name }) => name).join(", ");
  return markup`${problem && markup`<p role="alert">${problem.message}</p>`}
<form method="post" action="${action}">
<label for="protein">Protein <small>a sequence, FASTA, or the accession of a protein of the corpus</small></label>
<textarea id="protein" name="protein" rows="6" required spellcheck="false">${values.protein}</textarea>
<label for="patterns">Patterns <small>up to five, one a line: P..P or [RK].L.{0,1}[FYLIVMP]</small></label>
<textarea id="patterns" name="patterns" rows="2" spellcheck="false">${values.patterns}</textarea>
<label for="motifClasses">Motif classes <small>up to five names, one a line</small></label>
<textarea id="motifClasses" name="motifClasses" rows="2" spellcheck="false">${values.motifClasses}</textarea>
<details><summary>Names</summary><p><small>${names}</small></p></details>
<label for="scoringModel">Scoring model</label>
<select id="scoringModel" name="scoringModel">
${SCORING_MODELS.map((model) => markup`<option${model === values.scoringModel && markup` selected`}>${model}</option>`)}
</select>
<button>Score</button>
</form>`;
}

/** The form as a page of its own, with what was wrong. */
export function refusedPage(
  home: string,
  action: string,
  values: TryValues,
  classes: readonly MotifClass[],
  problem: Problem,
): string {
  return page(
    home,
    "Score a motif",
    markup`<h1>Score a motif</h1>${tryForm(action, values, classes, problem)}`,
  );
}

/** While a job has not ended: its state, and the browser asks again by itself. */
export function waitingPage(home: string, status: string, details: string): string {
  return page(
    home,
    "Scoring",
    markup`<h1>Scoring</h1><p role="status"><b>${status}</b>: ${details}</p><p>This page looks again every second.</p>`,
    markup`<meta http-equiv="refresh" content="1">\n`,
  );
}

/** A job that ended without a prediction. */
export function endedPage(home: string, problem: Problem, form: string): string {
  return page(
    home,
    "No prediction",
    markup`<h1>No prediction</h1><p role="alert">${problem.message}</p><p><a href="${form}">Try again</a></p>`,
  );
}

export interface ResultPage {
  identifier: string;
  prediction: Prediction;
  /** Address of the result as data; a parameter `format` chooses its form. */
  result: string;
  forms: readonly string[];
  /** Address of the form. */
  form: string;
  /** Address of the page of the whole service. */
  home: string;
}

/** Every match in a row, what stands behind it, and the result in the forms that programs read. */
export function resultPage({ identifier, prediction, result, forms, form, home }: ResultPage): string {
  const { homologs, patterns, model, method, corpus, queryLength } = prediction;
  const rows = patterns.flatMap(({ name, expression, explanation, matches }) => {
    const pattern = markup`<td title="${explanation}"><code>${name ?? expression}</code></td>`;
    if (matches.length === 0) return [markup`<tr>${pattern}<td colspan="7">no match</td></tr>`];
    return matches.map(
      (match) => markup`<tr>${pattern}<td>${match.start}–${match.end}</td><td><code>${match.text}</code></td>
<td><b>${match.verdict}</b></td><td>${printDecimal(match.score)}</td><td>${printDecimal(match.expected)}</td>
<td>${printDecimal(match.z)}</td><td>${match.pValueIs === "at most" && "≤ "}${match.pValueIs === "at least" && "≥ "}${printDecimal(match.pValue)}</td></tr>`,
    );
  });
  const warnings = [prediction.warnings, ...patterns.map((pattern) => pattern.warnings)].flat();
  return page(
    home,
    identifier || "Result",
    markup`<h1>${identifier || "Result"}</h1>
<p>${queryLength} residues, ${homologs.length} homologs${corpus !== null && markup` in <b>${corpus.name}</b>`}, ${model} model, method ${method}.</p>
${warnings.map((warning) => markup`<p>${warning}</p>`)}
<div class="wide" tabindex="0"><table>
<thead><tr><th scope="col">Pattern</th><th scope="col">Residues</th><th scope="col">Match</th><th scope="col">Verdict</th>
<th scope="col">Score</th><th scope="col">Expected</th><th scope="col">z</th><th scope="col">P</th></tr></thead>
<tbody>${rows}</tbody>
</table></div>
<p>Whole result: ${forms.map((name) => markup`<a href="${result}?format=${name}">${name}</a> `)}</p>
<p><a href="${form}">Score another</a></p>`,
  );
}
