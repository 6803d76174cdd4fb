import { useEffect, useState } from "preact/hooks";
import { href } from "../address.ts";
import { titleOf } from "../inventory/declaration.ts";
import { Scanner } from "../inventory/scanner.tsx";
import { lookUp, type Match, pageOfMatch } from "../inventory/scanning.ts";
import { definePage, useParams } from "../page.tsx";
import { Checkbox } from "../components/field.tsx";
import { ErrorBanner } from "../components/banner.tsx";

/** One scan of this tab. */
interface Scan {
  code: string;
  matches: Match[];
}

const KEPT = "labd:scans";
const MOST = 20;
const kept = (): Scan[] => JSON.parse(sessionStorage.getItem(KEPT) ?? "[]") as Scan[];

function ScanPage() {
  const { code: given } = useParams();
  const [scans, setScans] = useState<Scan[]>([]);
  const [stay, setStay] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const take = async (code: string): Promise<void> => {
    setError(null);
    try {
      const matches = await lookUp(code);
      const all = [{ code, matches }, ...kept().filter((scan) => scan.code !== code)].slice(0, MOST);
      sessionStorage.setItem(KEPT, JSON.stringify(all));
      setScans(all);
      if (matches.length !== 1 || stay) return;
      const target = href(pageOfMatch(matches[0]));
      // Whoever comes with a code in the address goes back to where they came from.
      if (given === undefined) location.assign(target);
      else location.replace(target);
    } catch (problem) {
      setError(problem);
    }
  };
  useEffect(() => {
    setScans(kept());
    if (given !== undefined) void take(given);
  }, []);
  const [last] = scans;
  return (
    <>
      <nav class="trail" aria-label="Path">
        <a href={href("/inventory")}>Inventory</a> › Scan
      </nav>
      <h1>Scan</h1>
      <p class="lead">Hold a label before the scanner or the camera, and its record opens.</p>
      <Scanner
        onCode={(code) => void take(code)}
        hint="Scanners that type need nothing else: the field waits for them. A barcode, an id or its first 8 digits, or an address from a label."
      />
      <Checkbox label="Stay here, and list what was scanned" checked={stay} onChange={setStay} />
      {error !== null && <ErrorBanner error={error} retry={() => given !== undefined && void take(given)} />}
      <p role="status" class={last ? "" : "unseen"}>
        {last && <Said scan={last} />}
      </p>
      {scans.length > 0 && (
        <section class="card">
          <h2>Last scans</h2>
          <ul class="bare scans">
            {scans.map((scan) => (
              <li key={scan.code}>
                <code>{scan.code}</code> <Found scan={scan} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function Said({ scan: { code, matches } }: { scan: Scan }) {
  if (matches.length === 1) return <>{matches[0].name} was found.</>;
  if (matches.length > 1) return <>{matches.length} records have this code: choose one below.</>;
  return (
    <>
      Nothing that you may see has the code <code>{code}</code>.
    </>
  );
}

function Found({ scan: { matches } }: { scan: Scan }) {
  if (matches.length === 0) return <span class="tag bad">unknown</span>;
  return (
    <>
      {matches.map((match) => (
        <span key={match.id}>
          <a href={href(pageOfMatch(match))}>{match.name || "(without a name)"}</a>{" "}
          <small>{titleOf(match.segment).toLowerCase()}</small>{" "}
        </span>
      ))}
    </>
  );
}

export const scanPage = definePage({
  name: "scan",
  paths: ["/inventory/scan", "/i/:code"],
  title: "Scan",
  camera: true,
  View: ScanPage,
});
