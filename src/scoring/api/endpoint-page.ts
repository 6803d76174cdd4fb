import { escapeHtml } from "../../platform/html.ts";
import type { MotifClass } from "../corpus/motif-classes.ts";
import { tryForm, type TryValues } from "./try-page.ts";

/** What stands at the endpoint for people: where the documents are and how to send a first message. Plain HTML, no scripts. */
export interface EndpointPage {
  /** Absolute address of the endpoint. */
  endpoint: string;
  /** Target namespace of the messages. */
  namespace: string;
  /** What `elmIdentifierName` takes. */
  classes: readonly MotifClass[];
}

/** Human p53 (UniProtKB P04637) and the motif by which it binds MDM2 (Kussie et al., Science 1996, 274:948). */
const EXAMPLE = {
  sequence: `
MEEPQSDPSVEPPLSQETFSDLWKLLPENNVLSPLPSQAMDDLMLSPDDIEQWFTEDPGP
DEAPRMPEAAPPVAPAPAAPTPAAPAPAPSWPLSSSVPSQKTYQGSYGFRLGFLHSGTAK
SVTCTYSPALNKMFCQLAKTCPVQLWVDSTPPPGTRVRAMAIYKQSQHMTEVVRRCPHHE
RCSDSDGLAPPQHLIRVEGNLRVEYLDDRNTFRHSVVVPYEPPEVGSDCTTIHYNYMCNS
SCMGGMNRRPILTIITLEDSSGNLLGRNSFEVRVCACPGRDRRTEEENLRKKGEPHHELP
PGSTKRALPNNTSSSPQPKKKPLDGEYFTLQIRGRERFEMFRELNEALELKDAQAGKEPG
GSRAHSSHLKSKKGQSTSRHKKLMFKTEGPDSD`,
  expression: "F...W..[VIL]",
};

const TRY_EXAMPLE: TryValues = {
  protein: `>p53${EXAMPLE.sequence}`,
  patterns: `${EXAMPLE.expression}\nP..P`,
  motifClasses: "",
  scoringModel: "continuous",
};

export function endpointPage({ endpoint, namespace, classes }: EndpointPage): string {
  const message = `<Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/">
 <Body>
  <RunJob xmlns="${namespace}">
   <identifier>p53</identifier>
   <querySequence>${EXAMPLE.sequence}</querySequence>
   <scoringModel>continuous</scoringModel>
   <regularExpression>${EXAMPLE.expression}</regularExpression>
  </RunJob>
 </Body>
</Envelope>`;
  const command = `curl -s -H 'Content-Type: text/xml' --data-binary @- '${endpoint}' <<'END'\n${message}\nEND`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>ConservationScorer – labd</title>
<style>
  :root { color-scheme: light dark; --line: light-dark(#d5d9e0, #3a404a); --link: light-dark(#0b5cad, #8ec5ff); }
  body { font: 17px/1.55 system-ui, sans-serif; max-width: 48rem; margin: 0 auto; padding: 2.5rem 1.25rem; }
  h1 { font-size: 1.9rem; margin: 0; } h2 { font-size: 1.15rem; margin: 1.6rem 0 .35rem; }
  label { display: block; margin: .9rem 0 .2rem; font-weight: 600; } small { font-weight: 400; }
  textarea, select { font: .9rem/1.4 ui-monospace, monospace; width: 100%; box-sizing: border-box; padding: .4rem; }
  button { font: inherit; margin-top: 1rem; padding: .4rem 1.2rem; } summary { margin-top: .4rem; }
  a { color: var(--link); } :focus-visible { outline: 3px solid; outline-offset: 2px; }
  pre { border: 1px solid var(--line); border-radius: .6rem; padding: .8rem 1rem; overflow-x: auto; font-size: .85rem; }
  table { border-collapse: collapse; font-size: .85rem; }
  td, th { text-align: left; vertical-align: top; padding: .3rem .6rem .3rem 0; border-top: 1px solid var(--line); }
  code { overflow-wrap: anywhere; } li { margin: .2rem 0; }
</style>
</head>
<body>
<main>
<p><a href="${escapeHtml(new URL("../../", endpoint).pathname)}">labd</a></p>
<h1>ConservationScorer</h1>
<p>Scores how well the matches of short linear motifs are conserved in the homologs of a protein. SOAP 1.1 over HTTP,
document/literal; SOAP 1.2 envelopes are answered in kind.</p>
<h2>Documents</h2>
<ul>
<li><a href="${escapeHtml(`${endpoint}?wsdl`)}">WSDL</a>: give this address to a SOAP toolkit</li>
<li><a href="${escapeHtml(`${endpoint}/messages.xsd`)}">Schema of the messages</a>, namespace <code>${escapeHtml(namespace)}</code></li>
<li><a href="${escapeHtml(`${endpoint}/prediction.xsd`)}">Schema of the prediction</a></li>
</ul>
<h2>Three calls</h2>
<ol>
<li><b>RunJob</b> checks and stores a job and answers with its JobIdentifier.</li>
<li><b>GetStatus</b> says <code>queued</code>, <code>running</code>, <code>finished</code>, <code>failed</code>, <code>cancelled</code> or <code>expired</code>, with details.</li>
<li><b>GetResult</b> gives the ConScorePrediction of a finished job.</li>
</ol>
<h2>A first message</h2>
<p>The motif by which p53 binds MDM2 (Kussie et al., <i>Science</i> 1996, 274:948):</p>
<pre tabindex="0"><code>${escapeHtml(command)}</code></pre>
<h2 id="try">Try it</h2>
${tryForm(`${new URL(endpoint).pathname}/try`, TRY_EXAMPLE, classes).text}
<h2>Motif classes</h2>
<p><code>elmIdentifierName</code> takes any of these names. Those of ELM mean our own expressions, written from the
literature, until the table of the ELM resource is imported.</p>
<table>
<thead><tr><th scope="col">Names</th><th scope="col">Expression</th><th scope="col">Meaning</th></tr></thead>
<tbody>
${classes.map(row).join("\n")}
</tbody>
</table>
</main>
</body>
</html>
`;
}

function row({ name, aliases, expression, description }: MotifClass): string {
  const names = [name, ...aliases].map((one) => `<code>${escapeHtml(one)}</code>`).join("<br>");
  return `<tr><td>${names}</td><td><code>${escapeHtml(expression)}</code></td><td>${escapeHtml(description)}</td></tr>`;
}
