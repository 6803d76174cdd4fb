import { markup } from "../../platform/html.ts";
import { escapeAttribute } from "../prediction/xml-text.ts";
import type { MotifClass } from "../corpus/motif-classes.ts";

interface EndpointPage {
  /** Absolute address of the endpoint. */
  endpoint: string;
  /** Target namespace of the messages. */
  namespace: string;
  /** The names that `elmIdentifierName` accepts. */
  classes: readonly MotifClass[];
}

/** Human p53 (UniProtKB P04637), which binds MDM2 by the motif below (Kussie et al., Science 1996, 274:948). */
const P53 = `
MEEPQSDPSVEPPLSQETFSDLWKLLPENNVLSPLPSQAMDDLMLSPDDIEQWFTEDPGP
DEAPRMPEAAPPVAPAPAAPTPAAPAPAPSWPLSSSVPSQKTYQGSYGFRLGFLHSGTAK
SVTCTYSPALNKMFCQLAKTCPVQLWVDSTPPPGTRVRAMAIYKQSQHMTEVVRRCPHHE
RCSDSDGLAPPQHLIRVEGNLRVEYLDDRNTFRHSVVVPYEPPEVGSDCTTIHYNYMCNS
SCMGGMNRRPILTIITLEDSSGNLLGRNSFEVRVCACPGRDRRTEEENLRKKGEPHHELP
PGSTKRALPNNTSSSPQPKKKPLDGEYFTLQIRGRERFEMFRELNEALELKDAQAGKEPG
GSRAHSSHLKSKKGQSTSRHKKLMFKTEGPDSD`;

const STYLE = `
  :root { color-scheme: light dark; --line: light-dark(#d5d9e0, #3a404a); --link: light-dark(#0b5cad, #8ec5ff); }
  body { font: 17px/1.55 system-ui, sans-serif; max-width: 48rem; margin: 0 auto; padding: 2.5rem 1.25rem; }
  h1 { font-size: 1.9rem; margin: 0; } h2 { font-size: 1.15rem; margin: 1.6rem 0 .35rem; }
  a { color: var(--link); } :focus-visible { outline: 3px solid; outline-offset: 2px; }
  pre { border: 1px solid var(--line); border-radius: .6rem; padding: .8rem 1rem; overflow-x: auto; font-size: .85rem; }
  table { border-collapse: collapse; font-size: .85rem; }
  td, th { text-align: left; vertical-align: top; padding: .3rem .6rem .3rem 0; border-top: 1px solid var(--line); }
  code { overflow-wrap: anywhere; } li { margin: .2rem 0; }
`;

/** The page at the endpoint for people: links to the documents and a first message to send. It has no scripts. */
export function endpointPage({ endpoint, namespace, classes }: EndpointPage): string {
  const home = new URL("../", endpoint).pathname;
  const command = `curl -s -H 'Content-Type: text/xml' --data-binary @- '${endpoint}' <<'END'
<Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/">
 <Body>
  <RunJob xmlns="${escapeAttribute(namespace)}">
   <identifier>p53</identifier>
   <querySequence>${P53}</querySequence>
   <scoringModel>continuous</scoringModel>
   <regularExpression>F...W..[VIL]</regularExpression>
  </RunJob>
 </Body>
</Envelope>
END`;
  const rows = classes.map(({ name, aliases, expression, description }) => {
    const names = [name, ...aliases].map((one, i) => markup`${i > 0 && markup`<br>`}<code>${one}</code>`);
    return markup`<tr><td>${names}</td><td><code>${expression}</code></td><td>${description}</td></tr>\n`;
  });
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>ConservationScorer – labd</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<p><a href="${home}">labd</a></p>
<h1>ConservationScorer</h1>
<p>Scores how well the matches of short linear motifs are conserved in the homologs of a protein. SOAP 1.1 over HTTP,
document/literal; SOAP 1.2 requests get SOAP 1.2 responses. To score without SOAP, use the <a href="${home}score">scoring page</a>.</p>
<h2>Documents</h2>
<ul>
<li><a href="${endpoint}?wsdl">WSDL</a>: the address for a SOAP toolkit</li>
<li><a href="${endpoint}/messages.xsd">Message schema</a>, namespace <code>${namespace}</code></li>
<li><a href="${endpoint}/prediction.xsd">Prediction schema</a></li>
</ul>
<h2>Operations</h2>
<ol>
<li><b>RunJob</b> validates and stores a job and returns its JobIdentifier.</li>
<li><b>GetStatus</b> returns <code>queued</code>, <code>running</code>, <code>finished</code>, <code>failed</code>, <code>cancelled</code> or <code>expired</code>, with details.</li>
<li><b>GetResult</b> returns the ConScorePrediction of a finished job.</li>
</ol>
<h2>Example</h2>
<p>The motif through which p53 binds MDM2 (Kussie et al., <i>Science</i> 1996, 274:948):</p>
<pre tabindex="0"><code>${command}</code></pre>
<h2>Motif classes</h2>
<p><code>elmIdentifierName</code> accepts these names. Until the ELM table is imported, ELM names stand for labd's own
expressions, written from the literature.</p>
<table>
<thead><tr><th scope="col">Names</th><th scope="col">Expression</th><th scope="col">Description</th></tr></thead>
<tbody>
${rows}</tbody>
</table>
</main>
</body>
</html>
`.text;
}
