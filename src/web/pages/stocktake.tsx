import { useEffect, useState } from "preact/hooks";
import { href } from "../address.ts";
import { api, pageOf, titleOf } from "../inventory/declaration.ts";
import { Picker } from "../inventory/picker.tsx";
import { PathOf } from "../inventory/path.tsx";
import { localTime } from "../inventory/record.tsx";
import { Scanner } from "../inventory/scanner.tsx";
import { announceDone, type Preview } from "../inventory/write-record.ts";
import { useLoaded } from "../components/loaded.tsx";
import { definePage, navigate, useParams, useQuery, useTitle } from "../page.tsx";
import { showToast } from "../components/toast.tsx";
import { Button, LinkButton } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { SelectField, TextField } from "../components/field.tsx";
import { ErrorBanner } from "../components/banner.tsx";
import { useSubmission } from "../components/form.tsx";
import { requestJson, get, send } from "../request.ts";
import { useSession } from "../session.ts";

/** Looking a location through with a scanner: begun at the location, gone on with on any device, applied in one click. */

interface Stocktake {
  id: string;
  name: string;
  location: string;
  state: "OPEN" | "APPLIED";
  created: string;
  created_by: string;
  modified: string;
  modified_by: string;
}
const FIELDS = "id,name,location,state,created,created_by,modified,modified_by";

interface Place {
  id: string;
  name: string;
}
interface Line {
  segment: string;
  id: string;
  name: string;
  barcode: string | null;
  code?: string;
  at: Place | null;
  to?: Place;
  done?: string;
}
interface Count {
  location: Place;
  counts: Record<"expected" | "found" | "misplaced" | "missing" | "unknown" | "other" | "places", number>;
  found: Line[];
  misplaced: Line[];
  missing: Line[];
  unknown: { code: string }[];
  other: Line[];
}
interface Verdict {
  code: string;
  verdict: "found" | "misplaced" | "place" | "unknown" | "other";
  again: boolean;
  record: { segment: string; id: string; name: string } | null;
  matches: { segment: string; id: string; name: string }[];
}

const LIST = "stocktakes";

function StocktakePage() {
  const { id } = useParams();
  const [query] = useQuery();
  return id === undefined ? <Begin location={query.get("location") ?? ""} /> : <Going id={id} />;
}

/** Before it: what is counted, and what was counted before. */
function Begin({ location }: { location: string }) {
  const session = useSession();
  const [name, setName] = useState("");
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const place = useLoaded(location === "" ? null : location, (signal) =>
    get<{ results: { label: string } }>(
      api("locations", `${location}/`),
      { fields: "label", response_format: "flat" },
      signal,
    ),
  );
  const earlier = useLoaded(`earlier ${location}`, (signal) =>
    get<{ results: Stocktake[] }>(
      api(LIST),
      { location, ordering: "-created", fields: FIELDS, response_format: "flat", page_size: "20" },
      signal,
    ),
  );
  const label = place.value?.results.label;
  useEffect(() => {
    if (label !== undefined) setName(`${label}, ${localTime(new Date().toISOString()).slice(0, 10)}`);
  }, [label]);
  const begin = async (): Promise<void> => {
    setBusy(true);
    try {
      const made = await requestJson<{ id: string }>("POST", api(LIST), { body: { name, location } });
      navigate(`/inventory/stocktake/${made.id}`);
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  return (
    <>
      {location !== "" && <PathOf segment="locations" id={location} />}
      <h1>Stocktake{label !== undefined && ` of ${label}`}</h1>
      {Boolean(place.error) && <ErrorBanner error={place.error} retry={place.reload} />}
      {location === "" && session && (
        <div class="narrow">
          <Picker
            label="Location to look through"
            hint="With all that lies inside it. Any location has “Stocktake” under “More”, too."
            to={{ segment: "locations", key: "label", printed: "id" }}
            value=""
            onChoose={(chosen) => chosen !== "" && navigate("/inventory/stocktake", { location: chosen })}
          />
        </div>
      )}
      {session === null && (
        <p>
          <a href={href("/sign-in", { next: href("/inventory/stocktake", { location }) })}>Sign in</a> to
          begin one.
        </p>
      )}
      {session && label !== undefined && (
        <form
          class="narrow"
          onSubmit={(event) => {
            event.preventDefault();
            void begin();
          }}
        >
          <TextField label="Name of the stocktake" value={name} required onInput={setName} />
          {error !== null && <ErrorBanner error={error} />}
          <Button type="submit" look="primary" busy={busy}>
            Begin
          </Button>
        </form>
      )}
      {(earlier.value?.results.length ?? 0) > 0 && (
        <section class="card">
          <h2>{location === "" ? "Stocktakes" : "Here before"}</h2>
          <ul class="bare">
            {earlier.value?.results.map((each) => (
              <li key={each.id} class="row between">
                <a href={href(`/inventory/stocktake/${each.id}`)}>{each.name}</a>
                <small>
                  {localTime(each.created)} · {each.created_by} ·{" "}
                  {each.state === "OPEN" ? "not applied yet" : "applied"}
                </small>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function Going({ id }: { id: string }) {
  const path = (rest: string): string => api(LIST, `${id}/${rest}`);
  const loaded = useLoaded(id, (signal) =>
    Promise.all([
      get<{ results: Stocktake }>(path(""), { fields: FIELDS, response_format: "flat" }, signal),
      get<Count>(path("count/"), {}, signal),
    ]),
  );
  const [last, setLast] = useState<Verdict[]>([]);
  const [place, setPlace] = useState<Place | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [applying, setApplying] = useState(false);
  const [{ results: about }, count] = loaded.value ?? [{ results: undefined }, undefined];
  useTitle(about?.name);
  const open = about?.state === "OPEN";
  // Others scan too.
  useEffect(() => {
    if (!open) return;
    const timer = setInterval(() => document.visibilityState === "visible" && loaded.reload(), 15_000);
    return () => clearInterval(timer);
  }, [open]);
  const take = async (code: string, exact?: string): Promise<void> => {
    setError(null);
    try {
      const body = { codes: [exact ?? code], place: place?.id ?? null };
      const { results } = await requestJson<{ results: Verdict[] }>("POST", path("scans/"), { body });
      const [{ verdict, record }] = results;
      if (verdict === "place" && record) setPlace(record.id === about?.location ? null : record);
      setLast((before) => [...results, ...before.filter((each) => each.code !== code)].slice(0, 8));
      loaded.reload();
    } catch (problem) {
      setError(problem);
    }
  };
  const forget = async (code: string): Promise<void> => {
    try {
      await send("DELETE", path("scans/"), { query: { code } });
      setLast((before) => before.filter((each) => each.code !== code));
      loaded.reload();
    } catch (problem) {
      showToast((problem as Error).message, "error");
    }
  };
  return (
    <>
      {about && <PathOf segment="locations" id={about.location} />}
      <h1>{about?.name ?? "Stocktake"}</h1>
      {Boolean(loaded.error) && <ErrorBanner error={loaded.error} retry={loaded.reload} />}
      {about && count && (
        <>
          <p class="muted">
            {count.location.name} · begun {localTime(about.created)} by {about.created_by}
            {!open && ` · applied by ${about.modified_by}, ${localTime(about.modified)}`}
          </p>
          <Figures count={count} />
          <p class="row screen">
            {open && (
              <Button look="primary" onClick={() => setApplying(true)}>
                Apply …
              </Button>
            )}
            <LinkButton href={href(path("count/"), { format: "csv" })} download="stocktake.csv">
              CSV
            </LinkButton>
            <Button onClick={() => print()}>Print</Button>
            <LinkButton look="quiet" href={href(pageOf(LIST, id))}>
              Its record
            </LinkButton>
          </p>
          <div class={open ? "record" : ""}>
            {open && (
              <section class="card screen">
                <h2>Scan what is there</h2>
                <Scanner
                  onCode={(code) => void take(code)}
                  hint="Scan the label of a box inside first, and what follows is taken to be in it."
                />
                {place && (
                  <p class="note">
                    Scanning in <strong>{place.name}</strong>.{" "}
                    <Button look="quiet" onClick={() => setPlace(null)}>
                      Anywhere in {count.location.name}
                    </Button>
                  </p>
                )}
                {error !== null && <ErrorBanner error={error} />}
                <div role="status">
                  <ul class="bare scans">
                    {last.map((each) => (
                      <li key={each.code}>
                        <Mark verdict={each.verdict} /> {each.record?.name ?? <code>{each.code}</code>}
                        {each.again && <small> again</small>}
                        {each.matches.map((match) => (
                          <Button key={match.id} look="quiet" onClick={() => void take(each.code, match.id)}>
                            It is {match.name}
                          </Button>
                        ))}
                      </li>
                    ))}
                  </ul>
                </div>
              </section>
            )}
            <div class="stack">
              <Lines title="Missing" lines={count.missing} empty="Nothing is missing." done={!open} />
              <Lines
                title="Misplaced"
                lines={count.misplaced}
                empty="Nothing is misplaced."
                done={!open}
                onForget={open ? forget : undefined}
              />
              {count.unknown.length > 0 && (
                <section class="card">
                  <h2>Unknown codes</h2>
                  <ul class="bare">
                    {count.unknown.map(({ code }) => (
                      <li key={code} class="row between">
                        <code>{code}</code>
                        {open && (
                          <Button
                            look="quiet"
                            aria-label={`Forget ${code}`}
                            onClick={() => void forget(code)}
                          >
                            Forget
                          </Button>
                        )}
                      </li>
                    ))}
                  </ul>
                </section>
              )}
              <Lines
                title="Found"
                lines={count.found}
                empty="Nothing yet."
                done={false}
                onForget={open ? forget : undefined}
              />
              {count.other.length > 0 && (
                <Lines
                  title="Not kept in locations"
                  lines={count.other}
                  empty=""
                  done={false}
                  onForget={open ? forget : undefined}
                />
              )}
            </div>
          </div>
        </>
      )}
      {applying && count && (
        <Apply
          path={path("apply/")}
          count={count}
          onClose={() => setApplying(false)}
          onDone={loaded.reload}
        />
      )}
    </>
  );
}

const MARKS: Record<Verdict["verdict"], [look: string, word: string]> = {
  found: ["good", "found"],
  misplaced: ["warn", "misplaced"],
  place: ["", "here now"],
  unknown: ["bad", "unknown"],
  other: ["warn", "not kept in locations"],
};
const Mark = ({ verdict }: { verdict: Verdict["verdict"] }) => (
  <span class={`tag ${MARKS[verdict][0]}`}>{MARKS[verdict][1]}</span>
);

function Figures({ count: { counts } }: { count: Count }) {
  const shown = [
    ["Should be here", counts.expected],
    ["Found", counts.found],
    ["Missing", counts.missing],
    ["Misplaced", counts.misplaced],
    ["Unknown", counts.unknown],
  ] as const;
  return (
    <dl class="figures">
      {shown.map(([name, figure]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{figure.toLocaleString("en")}</dd>
        </div>
      ))}
    </dl>
  );
}

const SHOWN = 100;

function Lines(props: {
  title: string;
  lines: readonly Line[];
  empty: string;
  /** Whether to tell what was done. */
  done: boolean;
  onForget?: ((code: string) => void) | undefined;
}) {
  const { title, lines, empty, done, onForget } = props;
  const [all, setAll] = useState(false);
  return (
    <section class="card">
      <h2>
        {title} {lines.length > 0 && <small>{lines.length.toLocaleString("en")}</small>}
      </h2>
      {lines.length === 0 && <p class="muted">{empty}</p>}
      <ul class="bare">
        {lines.slice(0, all ? lines.length : SHOWN).map((line) => (
          <li key={line.id} class="row between">
            <span>
              <a href={href(pageOf(line.segment, line.id))}>{line.name}</a>{" "}
              <small>
                {titleOf(line.segment).toLowerCase()}
                {line.at &&
                  ` · ${line.to ? "recorded in " : ""}${line.at.name ?? "a place that you may not see"}`}
                {line.to && !line.at && " · recorded nowhere"}
                {line.to && ` · found in ${line.to.name}`}
                {done && line.done && ` · ${line.done}`}
              </small>
            </span>
            {onForget && line.code !== undefined && (
              <Button look="quiet" aria-label={`Forget ${line.name}`} onClick={() => onForget(line.code!)}>
                Forget
              </Button>
            )}
          </li>
        ))}
      </ul>
      {!all && lines.length > SHOWN && (
        <Button look="quiet" onClick={() => setAll(true)}>
          {(lines.length - SHOWN).toLocaleString("en")} more
        </Button>
      )}
    </section>
  );
}

type Missing = "status" | "clear" | "keep";

/** What would be written, and one click that does it. */
function Apply(props: { path: string; count: Count; onClose: () => void; onDone: () => void }) {
  const { path, count, onClose, onDone } = props;
  const [missing, setMissing] = useState<Missing>("status");
  const body = { missing };
  const tried = useLoaded(missing, (signal) =>
    requestJson<Preview>("POST", path, { body, query: { dry_run: "1", changes: "0" }, signal }),
  );
  // The stocktake itself is written too.
  const records = Math.max(0, (tried.value?.count ?? 1) - 1);
  const { submit, busy, error } = useSubmission(async () => {
    const response = await send("POST", path, { body, query: { confirm: tried.value?.confirm } });
    announceDone("The stocktake is applied.", response.headers.get("Batch-Id"), onDone);
    onDone();
    onClose();
    return true;
  });
  return (
    <Dialog
      title="Apply the stocktake"
      onClose={onClose}
      actions={
        <>
          <Button look="primary" busy={busy} disabled={!tried.value} onClick={submit}>
            Apply
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </>
      }
    >
      {Boolean(error ?? tried.error) && <ErrorBanner error={error ?? tried.error} />}
      <p>
        {count.misplaced.length.toLocaleString("en")} misplaced go to where they were found.{" "}
        {count.missing.length.toLocaleString("en")} are missing.
      </p>
      <SelectField
        label="What is missing"
        value={missing}
        choices={[
          { value: "status", name: "gets the status MISSING" },
          { value: "clear", name: "loses its location" },
          { value: "keep", name: "stays as it is, and is in the report" },
        ]}
        onChange={setMissing}
      />
      <p role="status">
        {tried.value &&
          `${records.toLocaleString("en")} ${records === 1 ? "record" : "records"} would be changed; what you may not change stays as it is. It can be undone.`}
      </p>
    </Dialog>
  );
}

export const stocktakePage = definePage({
  name: "stocktake",
  paths: ["/inventory/stocktake", "/inventory/stocktake/:id"],
  title: "Stocktake",
  camera: true,
  View: StocktakePage,
});
