import { useEffect, useState } from "preact/hooks";
import { href } from "../address.ts";
import { ErrorBanner } from "../components/banner.tsx";
import { Checkbox } from "../components/field.tsx";
import { Card, PageHead, Tag } from "../components/layout.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { declaration, pagePath, listSingular } from "../inventory/declaration.ts";
import { readRecord, recordName } from "../inventory/record.tsx";
import { Scanner } from "../inventory/scanner.tsx";
import { StockActions } from "../inventory/stock-actions.tsx";
import { AmountFact } from "../inventory/stock-card.tsx";
import { snapshot } from "../offline/device.ts";
import { KnownRecordActions } from "../offline/known-actions.tsx";
import { useMoves } from "../offline/moves.tsx";
import { findCode, type KnownRecord, whereIs } from "../offline/snapshot.ts";
import { definePage, useParams } from "../page.tsx";
import { call, isUnreachable } from "../request.ts";
import { useSession } from "../session.ts";
import { readStored, writeStored } from "../stored.ts";

interface Match {
  segment: string;
  id: string;
  name: string;
  /** The place, as far as this device knows without a network. */
  where?: string;
  /** The record on this device. */
  known?: KnownRecord;
}

/** A scan in this tab, and the records with its code. */
interface Scan {
  code: string;
  matches: Match[];
}

const MOST = 20;
/** The records with a code; without a network, records on this device. */
async function findRecords(code: string): Promise<{ matches: Match[]; isOffline: boolean }> {
  try {
    const { results } = await call("GET /api/v2/scan/", { query: { code } });
    return { matches: results, isOffline: false };
  } catch (error) {
    const known = isUnreachable(error) ? await snapshot() : undefined;
    if (!known) throw error;
    const matches = findCode(known, code).map((record) => {
      const { segment, id, name } = record;
      return { segment, id, name, where: whereIs(known, record), known: record };
    });
    return { matches, isOffline: true };
  }
}

const storedScans = (): Scan[] => readStored("scans", []);

function ScanPage() {
  const { code: given } = useParams();
  const [scans, setScans] = useState<Scan[]>([]);
  const [isListing, setListing] = useState(false);
  const [isMoving, setMoving] = useState(false);
  const person = useSession()?.user.id;
  const moves = useMoves();
  const [error, setError] = useState<unknown>();
  const lookUp = async (code: string): Promise<void> => {
    setError(undefined);
    try {
      const { matches, isOffline } = await findRecords(code);
      const all = [{ code, matches }, ...storedScans().filter((scan) => scan.code !== code)].slice(0, MOST);
      writeStored("scans", all);
      setScans(all);
      if (matches.length !== 1 || isListing || isOffline) return;
      const target = href(pagePath(matches[0].segment, matches[0].id));
      // The back button must not lead to a code that opens its record again.
      if (given === undefined) location.assign(target);
      else location.replace(target);
    } catch (problem) {
      setError(problem);
    }
  };
  useEffect(() => {
    setScans(storedScans());
    if (given !== undefined) void lookUp(given);
  }, []);
  return (
    <>
      <PageHead title="Scan a code" crumbs={[{ name: "Inventory", href: href("/inventory") }]}>
        Hold a label in front of the scanner or the camera to open its record.
      </PageHead>
      <div class="stack">
        <Scanner
          onCode={(code) => void (isMoving ? moves.scan(code) : lookUp(code))}
          hint="A barcode, an id or its first 8 digits, or the address on a label."
        />
        {!isMoving && (
          <Checkbox label="Stay on this page and list the scans" checked={isListing} onChange={setListing} />
        )}
        {person !== undefined && (
          <Checkbox label="Move the scanned records" checked={isMoving} onChange={setMoving} />
        )}
        <p class="hint">
          <a href={href("/inventory/offline")}>Offline use</a>: scan, use and move without a network.
        </p>
        {isMoving && moves.view}
        {error !== undefined && (
          <ErrorBanner error={error} {...(given === undefined ? {} : { retry: () => void lookUp(given) })} />
        )}
        {!isMoving && scans[0]?.matches.length === 1 && (
          <ScannedActions key={scans[0].code} of={scans[0].matches[0]} isListing={isListing} />
        )}
        {!isMoving && <p role="status">{scans.length > 0 && describeScan(scans[0])}</p>}
        {!isMoving && scans.length > 0 && (
          <Card title="Last scans" bare>
            <ul class="list">
              {scans.map(({ code, matches }) => (
                <li key={code}>
                  <code>{code}</code>
                  {matches.length === 0 && <Tag tone="danger">unknown</Tag>}
                  {matches.map((match) => (
                    <FoundRecord key={match.id} {...match} />
                  ))}
                </li>
              ))}
            </ul>
          </Card>
        )}
      </div>
    </>
  );
}

/** A record with its kind. Without a network its place is a link, which opens at its slot. */
const FoundRecord = ({ id, segment, name, where, known }: Match) => (
  <span>
    <a href={href(pagePath(segment, id))}>{name || "(no name)"}</a>{" "}
    <small>
      {listSingular(segment)}
      {where && ", "}
      {known?.location ? (
        <a href={href(pagePath("locations", known.location), { at: known.position })}>{where}</a>
      ) : (
        where
      )}
    </small>
  </span>
);

/** Actions on the scanned record; without a network those that wait for it. */
function ScannedActions({ of: { segment, id, known }, isListing }: { of: Match; isListing: boolean }) {
  const loaded = useLoaded(known || !isListing ? null : `${segment} ${id} actions`, async (signal) => {
    const [of, row] = await Promise.all([declaration(segment), readRecord(segment, id, signal)]);
    return { of, row };
  });
  if (loaded.value)
    return (
      <StockActions {...loaded.value} onChanged={loaded.reload}>
        <strong>{recordName(loaded.value.of, loaded.value.row)}</strong>
        <AmountFact {...loaded.value} />
      </StockActions>
    );
  return known?.use ? <KnownRecordActions key={id} id={id} /> : null;
}

function describeScan({ code, matches }: Scan): string {
  if (matches.length === 1) return `Found ${matches[0].name}.`;
  if (matches.length > 1) return `${matches.length} records have this code. Choose one below.`;
  return `No record that you can view has the code ${code}.`;
}

export const scanPage = definePage({
  name: "scan",
  paths: ["/inventory/scan", "/i/:code"],
  title: "Scan a code",
  camera: true,
  View: ScanPage,
});
