import type { ComponentProps } from "preact";
import { useEffect, useState } from "preact/hooks";
import { href } from "../address.ts";
import { Banner } from "../components/banner.tsx";
import { Button, LinkButton } from "../components/button.tsx";
import { confirm } from "../components/confirm.tsx";
import { Card, PageHead } from "../components/layout.tsx";
import { Skeleton, useLoaded } from "../components/loaded.tsx";
import { withErrorToast } from "../components/toast.tsx";
import { pluralize, formatTime } from "../format.tsx";
import { Box } from "../inventory/box/box.tsx";
import { pagePath, listSingular } from "../inventory/declaration.ts";
import { SignInFirst } from "../inventory/sign-in-first.tsx";
import {
  canWorkOffline,
  refreshSnapshot,
  snapshot,
  startOffline,
  stopOffline,
  worksOffline,
} from "../offline/device.ts";
import { KnownRecordActions } from "../offline/known-actions.tsx";
import { QueueList } from "../offline/queue-list.tsx";
import { findRecord, type KnownRecord, type Snapshot, whereIs } from "../offline/snapshot.ts";
import { useQueue } from "../offline/use-queue.ts";
import { definePage, useTitle } from "../page.tsx";
import { useSession } from "../session.ts";

function OfflinePage() {
  const session = useSession();
  const { changes, isOnline } = useQueue();
  const [shown, setShown] = useState<string | null>(null);
  useEffect(() => setShown(recordAt(location)), []);
  const [isOffered, setOffered] = useState(true);
  useEffect(() => setOffered(canWorkOffline()), []);
  if (shown !== null) return <KnownPage id={shown} isOnline={isOnline} />;
  return (
    <>
      <PageHead title="Offline use" crumbs={[{ name: "Inventory", href: href("/inventory") }]}>
        Scan, move and take stock without a network. Changes are sent when it is back.
      </PageHead>
      <div class="stack">
        {!isOnline && (
          <Banner tone="warn" role="status">
            No network. Only scanning, boxes and stocktakes work.
          </Banner>
        )}
        {isOffered ? (
          <SignInFirst to="use labd offline">
            {session && <ThisDevice person={session.user} unsent={changes.length} />}
            {session && <QueueList person={session.user.id} changes={changes} />}
          </SignInFirst>
        ) : (
          <Banner tone="warn">
            Browsers allow offline use on HTTPS pages only, or on the server’s own machine (localhost).
          </Banner>
        )}
      </div>
    </>
  );
}

/** The location or stock whose page the visitor asked for: the service worker answers with this page instead. */
function recordAt({ pathname, search }: Location): string | null {
  const path = pathname.slice(href("").length);
  const of = /^\/inventory\/(storage|tree)/.test(path) ? (new URLSearchParams(search).get("of") ?? "") : path;
  const lists = "locations|(?:stocks[-/])?(?:consumables|specimen)";
  return new RegExp(`(?:^|/inventory/)(?:${lists})/([\\da-f-]{36})/?$`).exec(of)?.[1] ?? null;
}

/** A location without a network: its box, or its contents; of stock its place. */
function KnownPage({ id, isOnline }: { id: string; isOnline: boolean }) {
  const known = useLoaded("snapshot", snapshot);
  const found = known.value && findRecord(known.value, id);
  useTitle(found?.name);
  if (!known.value || !found) return known.busy ? <Skeleton /> : <p>This device does not know the record.</p>;
  const isStock = found.segment.startsWith("stocks/");
  const inside = known.value.records.filter((record) => record.location === id);
  const head: ComponentProps<typeof Box>["head"] = (first, last) => (
    <PageHead
      title={found.name}
      crumbs={[{ name: "Offline use", href: href("/inventory/offline") }]}
      actions={
        <>
          {first}
          {!isStock && (
            <LinkButton icon="clipboard-check" href={href("/inventory/stocktake", { location: id })}>
              Stocktake
            </LinkButton>
          )}
          {isStock && found.location && (
            <LinkButton href={href(pagePath("locations", found.location), { at: found.position })}>
              Open its place
            </LinkButton>
          )}
          {isOnline && <LinkButton href={href(pagePath(found.segment, id))}>Open the whole page</LinkButton>}
          {last}
        </>
      }
    >
      {whereIs(known.value!, found) || "No location recorded"}.
      {!isOnline && ` As this device knew it at ${formatTime(known.value!.at)}, with your changes since.`}
    </PageHead>
  );
  if (found.grid) return <Box id={id} head={head} />;
  return (
    <>
      {head()}
      {isStock ? <KnownRecordActions id={id} /> : <Inside records={inside} />}
    </>
  );
}

const Inside = ({ records }: { records: readonly KnownRecord[] }) => (
  <Card title="Inside" count={records.length} bare>
    <ul class="list">
      {records.length === 0 && <li class="muted">Nothing inside.</li>}
      {records.slice(0, SHOWN).map(({ id, segment, name }) => (
        <li key={id}>
          <a href={href(pagePath(segment, id))}>{name}</a>
          <small>{listSingular(segment)}</small>
        </li>
      ))}
      {records.length > SHOWN && <li class="muted">and {records.length - SHOWN} more</li>}
    </ul>
  </Card>
);
const SHOWN = 100;

/** Data kept on this device, and the switch. */
function ThisDevice({ person, unsent }: { person: Snapshot["person"]; unsent: number }) {
  const [kept, setKept] = useState<Snapshot>();
  const [busy, setBusy] = useState(false);
  const run = (work: () => Promise<unknown>): Promise<void> => {
    setBusy(true);
    return withErrorToast(work)
      .then(snapshot)
      .then(setKept)
      .finally(() => setBusy(false));
  };
  useEffect(() => void snapshot().then(setKept), []);
  const turnOff = (): unknown =>
    unsent === 0
      ? run(stopOffline)
      : confirm({
          title: "Turn off offline use",
          text: `${pluralize(unsent, "change")} on this device have not been sent. They will be discarded.`,
          verb: "Discard and turn off",
          run: () => run(stopOffline),
        });
  return (
    <Card
      title="This device"
      actions={
        kept ? (
          <div class="actions">
            <Button small busy={busy} onClick={() => void run(() => refreshSnapshot(person))}>
              Update
            </Button>
            <Button small onClick={turnOff}>
              Turn off
            </Button>
          </div>
        ) : (
          <Button small look="primary" busy={busy} onClick={() => void run(() => startOffline(person))}>
            Turn on
          </Button>
        )
      }
    >
      {kept ? <Ready kept={kept} /> : <p>{busy || worksOffline() ? "Not ready yet." : EXPLANATION}</p>}
    </Card>
  );
}

const EXPLANATION =
  "This device can keep names, codes and places of the records that you may view: of each list those changed most " +
  "recently, at most 20,000 in all. They are removed when you sign out.";

const Ready = ({ kept }: { kept: Snapshot }) => (
  <div class="stack">
    <p role="status">
      Ready. Knows {pluralize(kept.records.length, "record")} as of {formatTime(kept.at)}
      {kept.left > 0 && `; ${pluralize(kept.left, "record")} changed longest ago are left out`}.
    </p>
    <div class="actions">
      <LinkButton icon="scan-line" href={href("/inventory/scan")}>
        Scan or move
      </LinkButton>
      <LinkButton icon="plus" href={href("/inventory/stocktake")}>
        Start a stocktake
      </LinkButton>
      {kept.stocktakes.map(({ id, name }) => (
        <LinkButton key={id} icon="clipboard-check" href={href(`/inventory/stocktake/${id}`)}>
          {name}
        </LinkButton>
      ))}
    </div>
  </div>
);

export const offlinePage = definePage({
  name: "offline",
  paths: ["/inventory/offline"],
  title: "Offline use",
  View: OfflinePage,
});
