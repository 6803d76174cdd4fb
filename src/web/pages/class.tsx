import { href } from "../address.ts";
import { LinkButton } from "../components/button.tsx";
import { DataLink } from "../components/data-link.tsx";
import { Empty } from "../components/empty.tsx";
import { Card, KeyValues, PageHead } from "../components/layout.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { formatCount, pluralize, listFirst } from "../format.tsx";
import { definePage, useParams, useTitle } from "../page.tsx";
import { ApiError, call } from "../request.ts";
import { ClassInstances, type ClassDetails } from "../score/class-instances.tsx";
import { ClassList, classTitle, classType, type MotifClass } from "../score/class-link.tsx";
import { ClassModelView } from "../score/class-model.tsx";
import { CopyButton } from "../score/downloads.tsx";
import { rarityText } from "../score/motif-chooser.tsx";
import { PatternLogo } from "../score/pattern-logo.tsx";
import { PDB } from "../score/protein-identity.tsx";
import { ResultList } from "../score/recent-results.tsx";

/** Organisms and structures that are named. */
const NAMED = 6;

function ClassPage() {
  const { name = "" } = useParams();
  const loaded = useLoaded(name, (signal) =>
    call("GET /api/scoring/motif-classes/:name", { params: { name }, signal }),
  );
  const { value, error } = loaded;
  const title = value ? classTitle(value.motifClass) : name;
  useTitle(`${title}, motif class`);
  return (
    <>
      <PageHead
        title={title}
        crumbs={[{ name: "Motif classes", href: href("/classes") }]}
        actions={value && <Actions of={value.motifClass} />}
      >
        {value && <Facts of={value} />}
      </PageHead>
      {error instanceof ApiError && error.status === 404 ? (
        <Empty title={`There is no motif class ${name}`} icon="search-x">
          <p>{error.message}</p>
          <LinkButton href={href("/classes")}>All motif classes</LinkButton>
        </Empty>
      ) : (
        <Loaded of={loaded}>{(of) => <Content key={of.motifClass.name} of={of} />}</Loaded>
      )}
    </>
  );
}

const Actions = ({ of: { name } }: { of: MotifClass }) => (
  <>
    <LinkButton icon="scan-search" href={href("/scan", { class: name })}>
      Scan a protein
    </LinkButton>
    <LinkButton look="primary" icon="dna" href={href("/proteome", { class: name })}>
      Search a proteome
    </LinkButton>
  </>
);

function Facts({ of: { motifClass: of, instances } }: { of: ClassDetails }) {
  const elm = [of.name, ...of.aliases].find((one) => /^(CLV|DEG|DOC|LIG|MOD|TRG)_/.test(one));
  return (
    <p class="identity">
      {of.type !== null && <span>{classType(of)}</span>}
      {of.title !== "" && <code>{of.name}</code>}
      {elm !== undefined && <a href={`http://elm.eu.org/elms/${elm}`}>ELM</a>}
      <span>{pluralize(instances, "known instance")} in the corpus</span>
    </p>
  );
}

const Content = ({ of }: { of: ClassDetails }) => {
  const { name, aliases, model, citation } = of.motifClass;
  return (
    <div class="with-panel">
      <div class="stack">
        <PatternCard of={of} />
        {model && (
          <Card title="Learned from known instances">
            <ClassModelView name={name} />
          </Card>
        )}
        {of.instances > 0 ? (
          <ClassInstances of={of} />
        ) : (
          <Card title="Known instances">
            <p>
              None is imported for proteins of the corpus. <DataLink />
            </p>
          </Card>
        )}
      </div>
      <div class="stack">
        <WhereCard of={of} />
        <ResultList
          title="Proteome searches"
          kinds={["proteome-search"]}
          shown={NAMED}
          about={[name, ...aliases]}
        />
        <Card title="References">
          <ol class="bullets">
            {citation.split("; ").map((one) => (
              <li key={one}>{one}</li>
            ))}
          </ol>
        </Card>
        {of.similar.length > 0 && (
          <Card title="Classes of the same site" count={of.similar.length} bare>
            <ClassList of={of.similar.map((one) => ({ ...one, title: "" }))} />
          </Card>
        )}
      </div>
    </div>
  );
};

const PatternCard = ({ of: { motifClass: of, expected, positions } }: { of: ClassDetails }) => (
  <Card title="Pattern" actions={<CopyButton text={of.expression} done="Pattern copied." />}>
    <div class="pattern-head">
      <div>
        <code class="pattern-code">{of.expression}</code>
        <p>{of.explanation}.</p>
        <p class="hint">
          {rarityText(of.informationContent)}
          {expected > 0 && ` About ${formatCount(Number(expected.toPrecision(2)))} in the corpus.`}
        </p>
      </div>
      {positions && (
        <div class="table-scroll" role="group" tabIndex={0} aria-label="Pattern as a logo">
          <PatternLogo of={positions} label={of.explanation} />
        </div>
      )}
    </div>
    <p>{of.description}</p>
  </Card>
);

const COMPARTMENTS: Readonly<Record<string, string>> = {
  inside: "inside the cell: cytosol, nucleus",
  outside: "outside the cell, or in the secretory pathway",
};

function WhereCard({ of }: { of: ClassDetails }) {
  const organisms = [...new Set(of.results.flatMap(({ protein }) => protein.organism ?? []))];
  const structures = [...new Set(of.results.flatMap(({ feature }) => feature.structures ?? []))];
  return (
    <Card title="Where it works">
      <KeyValues
        of={[
          ["Compartment", of.compartments.map((one) => COMPARTMENTS[one] ?? one).join("; ")],
          ["Phosphorylated", of.phosphorylated],
          ["Known in", listFirst(organisms, NAMED)],
          [
            "Structures",
            structures.length > 0 && (
              <>
                {structures.slice(0, NAMED).map((id) => (
                  <span key={id}>
                    <a href={PDB + id}>{id}</a>{" "}
                  </span>
                ))}
                {structures.length > NAMED && `and ${structures.length - NAMED} more`}
              </>
            ),
          ],
          ["Also called", of.motifClass.aliases.join(", ")],
        ]}
      />
    </Card>
  );
}

export const classPage = definePage({
  name: "class",
  paths: ["/classes/:name"],
  title: "Motif class",
  View: ClassPage,
});
