import { useEffect, useState } from "preact/hooks";
import { href } from "../address.ts";
import { Button, LinkButton } from "../components/button.tsx";
import { FormButtons, FormError, useSubmission } from "../components/form.tsx";
import { Card, PageHead } from "../components/layout.tsx";
import { definePage, navigate, useQuery } from "../page.tsx";
import { EXAMPLES } from "../score/examples.ts";
import { MAX_SCANS, startJob } from "../score/job.ts";
import { classErrors, MotifChooser } from "../score/motif-chooser.tsx";
import { ProteinField } from "../score/protein-field.tsx";
import { ResultList } from "../score/recent-results.tsx";
import { EvidenceChoice, NoCorpus, refuse, useScoreInput } from "../score/score-form.tsx";

const [P53] = EXAMPLES;

function MotifScan() {
  const [query, setQuery] = useQuery();
  const of = useScoreInput(query);
  const { text, setText, input, entries, classes, setClasses } = of;
  const [sent, setSent] = useState(0);
  const accession = entries.length === 1 && entries[0].sequence === null ? entries[0].name : null;
  useEffect(() => {
    setQuery({ protein: accession, class: classes }, { replace: true });
  }, [accession, classes.join()]);

  const form = useSubmission(async () => {
    if (input.kind === "wrong")
      refuse("protein", "The protein cannot be read. Correct it as described below the field.");
    if (entries.length === 0) refuse("querySequence", "Paste a protein, or enter an accession.");
    if (entries.length > MAX_SCANS)
      refuse(
        "querySequence",
        `${entries.length} proteins; the page scans up to ${MAX_SCANS}. Use labd scan for more.`,
      );
    const jobs: string[] = [];
    for (const [i, entry] of entries.entries()) {
      setSent(i);
      const job = await startJob(entry, classes, of.evidence);
      jobs.push(job.id);
    }
    if (jobs.length === 1) navigate(`/scan/${jobs[0]}`);
    else navigate(`/scans?${new URLSearchParams(jobs.map((job) => ["job", job]))}`);
    return true;
  });
  return (
    <form class="stack" onSubmit={form.submit} noValidate>
      <PageHead
        title="Scan a protein"
        actions={<LinkButton href={href("/score")}>Score single motifs</LinkButton>}
      >
        Find the matches of all motif classes in a protein, ranked by the evidence for each.
      </PageHead>
      <NoCorpus />
      <div class="columns">
        <Card title="Protein">
          <ProteinField
            label="Sequence, FASTA or accession"
            hint={`Paste it or drop a file here, or enter accessions of the corpus, such as P04637. Up to ${MAX_SCANS} proteins.`}
            value={text}
            input={input}
            onInput={setText}
            errors={[...(form.fields.querySequence ?? []), ...(form.fields.accession ?? [])]}
          />
          <EvidenceChoice of={of} />
          {text.trim() === "" && (
            <div>
              <Button onClick={() => setText(`>${P53.name}\n${P53.sequence}`)}>Try p53</Button>
            </div>
          )}
        </Card>
        <Card title="Motif classes">
          <p>
            {classes.length > 0
              ? "The chosen classes are tested. With fewer tests, the same P value has a smaller q."
              : "All motif classes are tested: those of the imported table, or else the built-in ones. Choose some to test fewer."}
          </p>
          <MotifChooser chosen={classes} onChange={setClasses} errors={classErrors(form.fields, classes)} />
        </Card>
      </div>
      <FormError of={form} shown={["querySequence", "accession", "motifClasses"]} focus />
      <FormButtons of={form} submit={entries.length > 1 ? `Scan ${entries.length} proteins` : "Scan"}>
        <span class="muted" role="status">
          {form.busy && entries.length > 1 && `${sent} of ${entries.length} sent`}
        </span>
      </FormButtons>
      <ResultList title="Recent results" kinds={["job"]} shown={5} />
    </form>
  );
}

export const motifScanPage = definePage({
  name: "motif-scan",
  paths: ["/scan"],
  title: "Scan a protein",
  View: MotifScan,
});
