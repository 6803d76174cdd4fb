import { useEffect, useState } from "preact/hooks";
import { href } from "../address.ts";
import { ErrorBanner } from "../components/banner.tsx";
import { Button, LinkButton } from "../components/button.tsx";
import { Form } from "../components/form.tsx";
import { Card, PageHead } from "../components/layout.tsx";
import { Skeleton, useLoaded, usePolling } from "../components/loaded.tsx";
import { withErrorToast } from "../components/toast.tsx";
import { formatDate, formatTime } from "../format.tsx";
import { api, pagePath } from "../inventory/declaration.ts";
import { Picker } from "../inventory/picker.tsx";
import { Person } from "../inventory/record.tsx";
import { Scanner } from "../inventory/scanner.tsx";
import { SignInFirst } from "../inventory/sign-in-first.tsx";
import {
  ApplyDialog,
  Answer,
  type Count,
  Lines,
  LIST,
  type LoggedScan,
  ScanLog,
  type Stocktake,
} from "../inventory/stocktake-parts.tsx";
import { deviceStore, snapshot, worksOffline } from "../offline/device.ts";
import { idOnServer } from "../offline/keep-outcome.ts";
import { QueueList } from "../offline/queue-list.tsx";
import {
  keepCount,
  type OfflineStocktake,
  queueApplication,
  queueScan,
  queueStart,
  readStocktake,
  removeScan,
} from "../offline/stocktake.ts";
import { findRecord, type KnownStocktake } from "../offline/snapshot.ts";
import { useReloadAfterSending } from "../offline/use-queue.ts";
import { definePage, navigate, useParams, useQuery, useTitle } from "../page.tsx";
import { call, isUnreachable } from "../request.ts";
import { readFlat, readList } from "../inventory/read-list.ts";

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
  const place = useLoaded(location || null, (signal) => readLabel(location, signal));
  const earlier = useLoaded(`earlier ${location}`, (signal) => {
    const query = { location, ordering: "-created", fields: FIELDS, page_size: "20", ...flat };
    return readList<Stocktake>(LIST, query, signal);
  });
  const label = place.value;
  return (
    <div class="stack">
      <PageHead title={label === undefined ? "Stocktake" : `Stocktake of ${label}`} crumbs={crumbs()}>
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
                const body = { name, location };
                const { id } = await call("POST /api/v2/:list/", { params: { list: LIST }, body }).catch(
                  (error: unknown) => queueStart(body, error),
                );
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
                  {formatTime(created)}, <Person username={created_by} />,{" "}
                  {state === "OPEN" ? "not applied yet" : "applied"}
                </small>
              </li>
            ))}
          </ul>
        </Card>
      )}
    </div>
  );
}

/** The name of a location, from the server or else from this device. */
async function readLabel(location: string, signal: AbortSignal): Promise<string> {
  try {
    return (await readFlat<{ unique_path: string }>("locations", location, { fields: "unique_path" }, signal))
      .unique_path;
  } catch (error) {
    const known = isUnreachable(error) ? await snapshot() : undefined;
    const found = known && findRecord(known, location);
    if (!found) throw error;
    return found.name;
  }
}

/** Other devices may scan, too. */
const UPDATE_SECONDS = 15;

/** The state of a stocktake by the server. @throws ApiError */
const readCount = (id: string, signal: AbortSignal): Promise<Count> =>
  call("GET /api/v2/:list/:id/count/", { params: { list: LIST, id }, signal });

function OpenStocktake({ id }: { id: string }) {
  const loaded = useLoaded(id, async (signal) => {
    const [stocktake, count] = await Promise.all([
      readFlat<Stocktake>(LIST, id, { fields: FIELDS }, signal),
      readCount(id, signal),
    ]);
    return { stocktake, count };
  });
  const { error } = loaded;
  const [known, setKnown] = useState<OfflineStocktake>();
  useTitle((loaded.value ?? known)?.stocktake.name);
  usePolling(() => (known || loaded.value?.stocktake.state === "OPEN") && loaded.reload(), UPDATE_SECONDS);
  useEffect(() => {
    if (loaded.value && error === undefined) void keepCount(id, loaded.value.count);
    if (error === undefined) return setKnown(undefined);
    void openOffline(id, error).then((found) => setKnown(found));
  }, [loaded.value, error]);
  useReloadAfterSending(loaded.reload);
  const shown = known ?? loaded.value;
  return (
    <>
      {!shown && <PageHead title="Stocktake" crumbs={crumbs()} />}
      {error !== undefined && !known && <ErrorBanner error={error} retry={loaded.reload} />}
      {shown && <StocktakeView {...shown} onChanged={loaded.reload} />}
      {!shown && error === undefined && <Skeleton />}
    </>
  );
}

/** The state of a stocktake on this device; leads to its page on the server if it was begun here and has been sent. */
async function openOffline(id: string, error: unknown): Promise<OfflineStocktake | undefined> {
  if (!worksOffline()) return undefined;
  const sent = await idOnServer(deviceStore(), id);
  if (sent !== undefined) location.replace(href(`/inventory/stocktake/${sent}`));
  const known = await readStocktake(id);
  return isUnreachable(error) || known?.isBegunHere ? known : undefined;
}

/** Applies a stocktake once the server responds; undefined if this device does not work without it. */
const queueLater = (stocktake: Pick<Stocktake, "id" | "name">) =>
  worksOffline() ? (): Promise<void> => queueApplication(stocktake) : undefined;

type ShownStocktake = OfflineStocktake | { stocktake: Stocktake; count: Count };

/** With or without a network, which may change while somebody scans. */
function StocktakeView({ onChanged, ...shown }: ShownStocktake & { onChanged: () => void }) {
  const { stocktake, count } = shown;
  const { id, name } = stocktake;
  const isOffline = "place" in shown;
  const isOpen = isOffline ? !shown.isApplied : shown.stocktake.state === "OPEN";
  const [isApplying, setApplying] = useState(false);
  const forget = (code: string): Promise<void> =>
    withErrorToast(async () => {
      await removeScan(stocktake, code);
      onChanged();
    });
  return (
    <div class="stack">
      <PageHead
        title={name}
        crumbs={crumbs()}
        actions={
          <>
            {!isOffline && <Actions id={id} />}
            {isOpen && (
              <Button look="primary" onClick={() => setApplying(true)}>
                Apply
              </Button>
            )}
          </>
        }
      >
        {isOffline ? summarizeOffline(shown) : describeStocktake(shown.stocktake, shown.count)}
      </PageHead>
      {count && <Answer count={count} isOpen={isOpen} />}
      <div class={isOpen ? "with-panel panel-first" : ""}>
        <div class="stack">
          {isOffline && <QueueList person={shown.person} changes={shown.changes} />}
          {count && <CountLists count={count} {...(isOpen && { onForget: forget })} />}
        </div>
        {isOpen && (
          <Scanning
            stocktake={stocktake}
            placeName={isOffline ? shown.place : shown.count.location.name}
            onScan={onChanged}
          />
        )}
      </div>
      {isApplying && (
        <ApplyDialog
          id={id}
          count={count}
          onClose={() => setApplying(false)}
          onDone={onChanged}
          onLater={queueLater(stocktake)}
        />
      )}
    </div>
  );
}

const summarizeOffline = ({ place, isApplied, count }: OfflineStocktake): string =>
  [
    `${place}. ${isApplied ? "It will be applied" : "Scans are sent and counted"} when the server responds.`,
    count && "The numbers are the last counts of the server.",
  ]
    .filter(Boolean)
    .join(" ");

const crumbs = () => [{ name: "Stocktakes", href: href(pagePath(LIST)) }];

function describeStocktake(
  { state, created, created_by, modified, modified_by }: Stocktake,
  { location }: Count,
) {
  return (
    <>
      {location.name}. Started by <Person username={created_by} /> on {formatTime(created)}
      {state !== "OPEN" && (
        <>
          , applied by <Person username={modified_by} /> on {formatTime(modified)}
        </>
      )}
      .
    </>
  );
}

const Actions = ({ id }: { id: string }) => (
  <>
    <LinkButton
      icon="download"
      href={href(api(LIST, `${id}/count/`), { format: "csv" })}
      download="stocktake.csv"
    >
      CSV
    </LinkButton>
    <Button icon="printer" onClick={() => print()}>
      Print
    </Button>
    <LinkButton icon="file-text" href={href(pagePath(LIST, id))}>
      Record
    </LinkButton>
  </>
);

const CountLists = ({ count, onForget }: { count: Count; onForget?: (code: string) => Promise<void> }) => (
  <div class="stack">
    <Lines
      title={onForget ? "Not scanned yet" : "Missing"}
      lines={count.missing}
      empty={onForget ? "Everything has been scanned." : "Nothing is missing."}
    />
    <Lines title="Misplaced" lines={count.misplaced} empty="Nothing is misplaced." onForget={onForget} />
    {count.unknown.length > 0 && <Lines title="Unknown codes" lines={count.unknown} onForget={onForget} />}
    <Lines title="Found" lines={count.found} empty="Nothing scanned yet." onForget={onForget} />
    {count.other.length > 0 && (
      <Lines title="Not stored in locations" lines={count.other} onForget={onForget} />
    )}
  </div>
);

const MAX_SCANS = 8;

function Scanning(props: { stocktake: KnownStocktake; placeName: string; onScan: () => void }) {
  const { stocktake, placeName, onScan } = props;
  const [last, setLast] = useState<LoggedScan[]>([]);
  const [place, setPlace] = useState<{ id: string; name: string } | null>(null);
  const [error, setError] = useState<unknown>();
  /** `id`: the record meant, where several have the code. */
  const scan = async (code: string, id?: string): Promise<void> => {
    setError(undefined);
    try {
      const body = { codes: [id ?? code], place: place?.id ?? null };
      const { results } = await call("POST /api/v2/:list/:id/scans/", {
        params: { list: LIST, id: stocktake.id },
        body,
      }).catch((error: unknown) => queueScan({ stocktake, place, code: id ?? code }, error));
      const [{ verdict, record }] = results;
      // The server decides later whether the location is inside.
      const isPlace = verdict === "place" || (verdict === "waiting" && record?.segment === "locations");
      if (isPlace && record) setPlace(record.id === stocktake.location ? null : record);
      setLast((before) => [...results, ...before.filter((each) => each.code !== code)].slice(0, MAX_SCANS));
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
      <ScanLog scans={last} placeName={placeName} onChoose={(code, id) => void scan(code, id)} />
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
