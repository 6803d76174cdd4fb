import { href } from "../address.ts";
import { LinkButton } from "../components/button.tsx";
import { Card, PageHead } from "../components/layout.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { formatCount } from "../format.tsx";
import { definePage } from "../page.tsx";
import { get } from "../request.ts";

const PROGRAM_LINKS = [
  { name: "API reference", path: "/docs" },
  { name: "OpenAPI document", path: "/docs/json" },
  { name: "SOAP service", path: "/soap/ConservationScorer" },
  { name: "WSDL", path: "/soap/ConservationScorer?wsdl" },
  { name: "Browsable inventory API", path: "/api/v2/?format=api" },
  { name: "Health", path: "/healthz" },
  { name: "Readiness", path: "/readyz" },
] as const;

const Home = () => (
  <>
    <PageHead title="labd">
      Tell functional short linear motifs from random matches, and keep the laboratory's inventory.
    </PageHead>
    <div class="columns">
      <Card title="Score a protein">
        <p>
          Is a match of a short linear motif likely to be functional? labd judges its conservation in homologs
          and its context.
        </p>
        <CorpusInUse />
        <div class="actions">
          <LinkButton look="primary" icon="crosshair" href={href("/score")}>
            Score a protein
          </LinkButton>
          <LinkButton icon="scan-search" href={href("/scan")}>
            Scan for all motifs
          </LinkButton>
        </div>
      </Card>
      <Card title="Search a proteome">
        <p>Which proteins of an organism have a motif? labd ranks all matches by the evidence for each.</p>
        <div class="actions">
          <LinkButton icon="dna" href={href("/proteome")}>
            Search a proteome
          </LinkButton>
          <LinkButton icon="eye" href={href("/changes")}>
            Changes
          </LinkButton>
        </div>
      </Card>
      <Card title="Inventory">
        <p>Find, label and count reagents and specimens in freezers, shelves and boxes.</p>
        <div class="actions">
          <LinkButton icon="flask-conical" href={href("/inventory")}>
            Open inventory
          </LinkButton>
          <LinkButton icon="scan-line" href={href("/inventory/scan")}>
            Scan a code
          </LinkButton>
        </div>
      </Card>
      <Card title="Use from a program">
        <ul class="bullets">
          {PROGRAM_LINKS.map(({ name, path }) => (
            <li key={path}>
              <a href={href(path)}>{name}</a>
            </li>
          ))}
        </ul>
      </Card>
    </div>
  </>
);

function CorpusInUse() {
  const { value, error } = useLoaded("corpus", (signal) =>
    get<{ name: string; sequences: number }>("/api/scoring/corpus", {}, signal),
  );
  if (error !== undefined)
    return (
      <p class="muted">
        There is no protein corpus yet. An administrator can{" "}
        <a href={href("/administration/corpora")}>add one</a>.
      </p>
    );
  return (
    <p class="muted">
      {value ? `Homologs come from ${value.name}, ${formatCount(value.sequences)} proteins.` : "\u00a0"}
    </p>
  );
}

export const homePage = definePage({ name: "home", paths: ["/"], title: "Home", View: Home });
