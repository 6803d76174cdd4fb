import { useEffect, useState } from "preact/hooks";
import { href } from "../address.ts";
import { definePage } from "../page.tsx";
import { LinkButton } from "../components/button.tsx";
import { get } from "../request.ts";

interface Corpus {
  name: string;
  sequences: number;
}

function Home() {
  return (
    <>
      <h1>What would you like to do?</h1>
      <p class="lead">
        Find out whether a short linear motif is conserved in its homologs, or find, label and count what is
        in the freezer.
      </p>
      <div class="columns">
        <section class="card" aria-labelledby="scoring">
          <h2 id="scoring">Score a motif</h2>
          <p>
            Is this match conserved in the homologs, so that it is likely to be real? Paste a protein, choose
            motifs, and see why.
          </p>
          <CorpusInUse />
          <LinkButton look="primary" href={href("/score")}>
            Score a motif
          </LinkButton>
        </section>
        <section class="card" aria-labelledby="inventory">
          <h2 id="inventory">Inventory</h2>
          <p>Freezers, shelves, boxes and what is in them: places, locations, tags and properties.</p>
          <LinkButton href={href("/inventory")}>Open the inventory</LinkButton>
        </section>
        <section class="card" aria-labelledby="programs">
          <h2 id="programs">For programs</h2>
          <p>All of it can be called: over SOAP, and as JSON.</p>
          <ul>
            <li>
              <a href={href("/docs")}>Every address, parameter and answer</a> (
              <a href={href("/docs/json")}>OpenAPI</a>)
            </li>
            <li>
              <a href={href("/soap/ConservationScorer")}>SOAP: how to call it</a> (
              <a href={`${href("/soap/ConservationScorer")}?wsdl`}>WSDL</a>)
            </li>
            <li>
              <a href={href("/api/v2/", { format: "api" })}>The inventory's interface, to look around in</a>
            </li>
            <li>
              <a href={href("/healthz")}>Alive?</a> · <a href={href("/readyz")}>Ready?</a>
            </li>
          </ul>
        </section>
      </div>
    </>
  );
}

function CorpusInUse() {
  const [corpus, show] = useState<Corpus | null | undefined>(undefined);
  useEffect(() => {
    get<Corpus>("/api/scoring/corpus").then(show, () => show(null));
  }, []);
  if (corpus === null)
    return (
      <p class="muted">
        There is no corpus of proteins yet: an administrator{" "}
        <a href={href("/administration/corpora")}>adds one</a>, or <code>labd corpus add FILE</code>.
      </p>
    );
  return (
    <p class="muted">
      {corpus
        ? `Homologs come from ${corpus.name}, ${corpus.sequences.toLocaleString("en")} proteins.`
        : "\u00a0"}
    </p>
  );
}

export const homePage = definePage({ name: "home", paths: ["/"], title: "Home", View: Home });
