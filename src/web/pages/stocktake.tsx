import { useState } from "preact/hooks";
import { href } from "../address.ts";
import { ErrorBanner } from "../components/banner.tsx";
import { Button, LinkButton } from "../components/button.tsx";
import { Form } from "../components/form.tsx";
import { Card, PageHead } from "../components/layout.tsx";
import { useLoaded, usePolling } from "../components/loaded.tsx";
import { withErrorToast } from "../components/toast.tsx";
import { formatDate, formatTime } from "../format.tsx";
import { api, pageOf } from "../inventory/declaration.ts";
import { Picker } from "../inventory/picker.tsx";
import { Scanner } from "../inventory/scanner.tsx";
import { SignInFirst } from "../inventory/sign-in-first.tsx";
import { ApplyDialog } from "../inventory/stocktake-apply.tsx";
import {
  Answer,
  type Count,
  Lines,
  LIST,
  ScanLog,
  type ScanResult,
  type Stocktake,
  UnknownCodes,
} from "../inventory/stocktake-parts.tsx";
import { definePage, navigate, useParams, useQuery, useTitle } from "../page.tsx";
import { get, requestJson, send } from "../request.ts";

const FIELDS = "id,name,location,state,created,created_by,modified,modified_by";

function StocktakePage() {
  const { id } = useParams();
  const [query] = useQuery();
  return id === undefined ? (
    <NewStocktake location={query.get("location") ?? ""} />
  ) : (
    <OpenStocktake id={id} />
  );
}

function NewStocktake({ location }: { location: string }) {
  const flat = { response_format: "flat" };
  const place = useLoaded(location || null, (signal) =>
    get<{ results: { label: string } }>(
      api("locations", `${location}/`),
      { fields: "label", ...flat },
      signal,
    ),
  );
  const earlier = useLoaded(`earlier ${location}`, (signal) => {
    const query = { location, ordering: "-created", fields: FIELDS, page_size: "20", ...flat };
    return get<{ results: Stocktake[] }>(api(LIST), query, signal);
  });
  const label = place.value?.results.label;
  return (
    <div class="stack">
      <PageHead
        title={label === undefined ? "Stocktake" : `Stocktake of ${label}`}
        crumbs={[{ name: "Stocktakes", href: href(pageOf(LIST)) }]}
      >
        Scan everything in a location, then correct the records in one step.
      </PageHead>
      {place.error !== undefined && <ErrorBanner error={place.error} retry={place.reload} />}
      <SignInFirst to="start a stocktake">
        <div class="form">
          {location === "" && (
            <Picker
              label="Location"
              hint="Including everything inside it."
              to={{ segment: "locations", key: "label", printed: "id" }}
              value=""
              onChoose={(chosen) => chosen !== "" && navigate("/inventory/stocktake", { location: chosen })}
            />
          )}
          {label !== undefined && (
            <Form
              fields={[{ name: "name", label: "Name of the stocktake" }]}
              initial={{ name: `${label}, ${formatDate(new Date())}` }}
              submit="Start"
              onSubmit={async ({ name }) => {
                const { id } = await requestJson<{ id: string }>("POST", api(LIST), {
                  body: { name, location },
                });
                navigate(`/inventory/stocktake/${id}`);
                return true;
              }}
            />
          )}
        </div>
      </SignInFirst>
      {earlier.value && earlier.value.results.length > 0 && (
        <Card title="Earlier stocktakes" bare>
          <ul class="list">
            {earlier.value.results.map(({ id, name, created, created_by, state }) => (
              <li key={id}>
                <a href={href(`/inventory/stocktake/${id}`)}>{name}</a>
                <small class="end">
                  {formatTime(created)}, {created_by}, {state === "OPEN" ? "not applied yet" : "applied"}
                </small>
              </li>
            ))}
          </ul>
        </Card>
      )}
    </div>
  );
}

/** Milliseconds between updates: others may scan too. */
const UPDATE_SECONDS = 15;

function OpenStocktake({ id }: { id: string }) {
  const path = (rest: string): string => api(LIST, `${id}/${rest}`);
  const loaded = useLoaded(id, async (signal) => {
    const [{ results: stocktake }, count] = await Promise.all([
      get<{ results: Stocktake }>(path(""), { fields: FIELDS, response_format: "flat" }, signal),
      get<Count>(path("count/"), {}, signal),
    ]);
    return { stocktake, count };
  });
  const { stocktake, count } = loaded.value ?? {};
  useTitle(stocktake?.name);
  const isOpen = stocktake?.state === "OPEN";
  usePolling(() => isOpen && loaded.reload(), UPDATE_SECONDS);
  const [isApplying, setApplying] = useState(false);
  const forget = (code: string): Promise<void> =>
    withErrorToast(async () => {
      await send("DELETE", path("scans/"), { query: { code } });
      loaded.reload();
    });
  const actions = (
    <>
      <LinkButton icon="download" href={href(path("count/"), { format: "csv" })} download="stocktake.csv">
        CSV
      </LinkButton>
      <Button icon="printer" onClick={() => print()}>
        Print
      </Button>
      <LinkButton icon="file-text" href={href(pageOf(LIST, id))}>
        Record
      </LinkButton>
      {isOpen && (
        <Button look="primary" onClick={() => setApplying(true)}>
          Apply
        </Button>
      )}
    </>
  );
  return (
    <>
      <PageHead
        title={stocktake?.name ?? "Stocktake"}
        crumbs={[{ name: "Stocktakes", href: href(pageOf(LIST)) }]}
        actions={stocktake && actions}
      >
        {stocktake &&
          `${count!.location.name}. Started by ${stocktake.created_by} on ${formatTime(stocktake.created)}` +
            (isOpen ? "." : `, applied by ${stocktake.modified_by} on ${formatTime(stocktake.modified)}.`)}
      </PageHead>
      {loaded.error !== undefined && <ErrorBanner error={loaded.error} retry={loaded.reload} />}
      {stocktake && count && (
        <div class="stack">
          <Answer count={count} />
          <div class={isOpen ? "with-panel" : ""}>
            <CountLists count={count} isOpen={isOpen} onForget={isOpen ? forget : undefined} />
            {isOpen && (
              <Scanning stocktake={stocktake} count={count} path={path("scans/")} onScan={loaded.reload} />
            )}
          </div>
        </div>
      )}
      {isApplying && count && (
        <ApplyDialog
          path={path("apply/")}
          count={count}
          onClose={() => setApplying(false)}
          onDone={loaded.reload}
        />
      )}
    </>
  );
}

function CountLists(props: {
  count: Count;
  isOpen: boolean;
  onForget: ((code: string) => Promise<void>) | undefined;
}) {
  const { count, isOpen, onForget } = props;
  return (
    <div class="stack">
      <Lines title="Missing" lines={count.missing} empty="Nothing is missing." showsDone={!isOpen} />
      <Lines
        title="Misplaced"
        lines={count.misplaced}
        empty="Nothing is misplaced."
        showsDone={!isOpen}
        onForget={onForget}
      />
      <UnknownCodes codes={count.unknown.map(({ code }) => code)} onForget={onForget} />
      <Lines title="Found" lines={count.found} empty="Nothing scanned yet." onForget={onForget} />
      {count.other.length > 0 && (
        <Lines title="Not stored in locations" lines={count.other} empty="" onForget={onForget} />
      )}
    </div>
  );
}

const MOST_SCANS = 8;

function Scanning(props: { stocktake: Stocktake; count: Count; path: string; onScan: () => void }) {
  const { stocktake, count, path, onScan } = props;
  const [last, setLast] = useState<ScanResult[]>([]);
  const [place, setPlace] = useState<{ id: string; name: string } | null>(null);
  const [error, setError] = useState<unknown>();
  /** `id`: the record meant, where several have the code. */
  const scan = async (code: string, id?: string): Promise<void> => {
    setError(undefined);
    try {
      const body = { codes: [id ?? code], place: place?.id ?? null };
      const { results } = await requestJson<{ results: ScanResult[] }>("POST", path, { body });
      const [{ verdict, record }] = results;
      if (verdict === "place" && record) setPlace(record.id === stocktake.location ? null : record);
      setLast((before) => [...results, ...before.filter((each) => each.code !== code)].slice(0, MOST_SCANS));
      onScan();
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <Card title="Scan">
      <Scanner
        onCode={(code) => void scan(code)}
        hint="Scan the label of a box first if the following items are in it."
      />
      {place && (
        <div class="note row">
          <span class="grow">
            Scanning in <strong>{place.name}</strong>
          </span>
          <Button small onClick={() => setPlace(null)}>
            Leave {place.name}
          </Button>
        </div>
      )}
      {error !== undefined && <ErrorBanner error={error} />}
      <ScanLog scans={last} placeName={count.location.name} onChoose={(code, id) => void scan(code, id)} />
    </Card>
  );
}

export const stocktakePage = definePage({
  name: "stocktake",
  paths: ["/inventory/stocktake", "/inventory/stocktake/:id"],
  title: "Stocktake",
  camera: true,
  View: StocktakePage,
});
