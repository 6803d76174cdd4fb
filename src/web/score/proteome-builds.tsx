import { useState } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { confirm } from "../components/confirm.tsx";
import { TextField } from "../components/field.tsx";
import { FormError, useSubmission } from "../components/form.tsx";
import { Card } from "../components/layout.tsx";
import { Loaded, useLoaded, useReloadUntil } from "../components/loaded.tsx";
import { TaskProgress } from "../components/task-progress.tsx";
import { pluralize, formatCount, formatDuration, formatSize, Time } from "../format.tsx";
import { type Answer, call } from "../request.ts";
import { useSession } from "../session.ts";
import { isOver } from "./proteome.ts";

type BuildRow = Answer<"GET /api/admin/proteome/builds/:id">;
type Estimate = Extract<Answer<"POST /api/admin/proteome/builds">, { missing: number }>;

/** Milliseconds between requests while a build is not over. */
const POLL = 2000;
/** Builds that are listed. */
const SHOWN = 5;

/** For administrators: builds of families on idle workers of the server. `onStored`: there may be more families. */
export const ProteomeBuilds = ({ onStored }: { onStored: () => void }) =>
  useSession()?.user.is_superuser === true ? <Builds onStored={onStored} /> : null;

function Builds({ onStored }: { onStored: () => void }) {
  const builds = useLoaded("builds", (signal) => call("GET /api/admin/proteome/builds", { signal }));
  const { reload } = builds;
  const reloadAll = (): void => {
    reload();
    onStored();
  };
  useReloadUntil({ ...builds, reload: reloadAll }, ({ results }) => results.every(isOver), POLL);
  return (
    <Card title="Build families">
      <BuildForm onStarted={reload} />
      <Loaded of={builds}>
        {({ results }) => (
          <>
            {results.slice(0, SHOWN).map((build) => (
              <BuildState key={build.id} build={build} onChange={reload} />
            ))}
          </>
        )}
      </Loaded>
    </Card>
  );
}

function BuildForm({ onStarted }: { onStarted: () => void }) {
  const [organism, setOrganism] = useState("9606");
  const form = useSubmission(async () => {
    const body = organism.trim() === "" ? {} : { organism: organism.trim() };
    const query = { dry_run: "1" };
    const estimate = (await call("POST /api/admin/proteome/builds", { body, query })) as Estimate;
    confirm({
      title: `Build ${pluralize(estimate.missing, "family", "families")}?`,
      text: estimateText(estimate),
      verb: "Build",
      look: "primary",
      run: async () => {
        await call("POST /api/admin/proteome/builds", { body });
        onStarted();
      },
    });
  });
  return (
    <form class="form-inline" onSubmit={form.submit} noValidate>
      <TextField
        label="Organism"
        hint="Taxon, scientific name or mnemonic; empty for all proteins."
        value={organism}
        onInput={setOrganism}
        errors={form.fields.organism}
      />
      <Button type="submit" busy={form.busy}>
        Build families
      </Button>
      <FormError of={form} shown={["organism"]} />
    </form>
  );
}

/** The size of a build in sentences. */
export function estimateText({ missing, existing, carry_over: carried, seconds, bytes }: Estimate): string {
  const known = existing > 0 ? `${formatCount(existing)} exist. ` : "";
  if (missing === 0) return `${known}No family is missing.`;
  const taken = carried > 0 ? ` Up to ${formatCount(carried)} are taken over from another corpus.` : "";
  return `${known}Expected: about ${formatDuration(seconds)} of processor time and ${formatSize(bytes)} of disk.${taken} Idle workers compute them, and jobs come first.`;
}

function BuildState({ build, onChange }: { build: BuildRow; onChange: () => void }) {
  const { id, state, organism, corpus_name: corpus, progress, stored, failure, ended } = build;
  const name = `${organism ?? "All proteins"} of ${corpus}`;
  if (isOver(build))
    return (
      <p>
        {name}: {state}, {pluralize(stored ?? 0, "family", "families")} stored. <Time at={ended} /> {failure}
      </p>
    );
  const left = progress?.seconds_left;
  const remaining = left == null ? "" : `, about ${formatDuration(left)} left`;
  return (
    <TaskProgress
      name={name}
      isNamed
      message={
        progress
          ? `${formatCount(progress.done)} of ${formatCount(progress.missing)} families${remaining}`
          : state
      }
      fraction={progress && progress.missing > 0 ? progress.done / progress.missing : null}
      onCancel={() => call("DELETE /api/admin/proteome/builds/:id", { params: { id } }).then(onChange)}
    />
  );
}
