import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { href } from "../address.ts";
import { Button, LinkButton } from "../components/button.tsx";
import { TextField } from "../components/field.tsx";
import { Icon } from "../components/icon.tsx";
import { Card } from "../components/layout.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { RunningOutPanel } from "../inventory/dashboard.tsx";
import { RecentChanges } from "../inventory/recent-changes.tsx";
import { definePage } from "../page.tsx";
import { ResultList } from "../score/recent-results.tsx";
import { ScoreBox } from "../score/score-box.tsx";
import { useSession } from "../session.ts";
import { readStored, writeStored } from "../stored.ts";
import { countRecords } from "../inventory/read-list.ts";

/** True if there is stock that the reader may view; undefined until that is known. */
function useHasStock(): boolean | undefined {
  const { value } = useLoaded("stock", async (signal) => {
    const lists = ["stocks/consumables", "stocks/specimen"];
    const totals = await Promise.all(lists.map((segment) => countRecords(segment, {}, signal)));
    return totals.some((total) => total > 0);
  });
  return value;
}

function Home() {
  const hasStock = useHasStock();
  const session = useSession();
  return (
    <>
      <h1 class="unseen">Home</h1>
      <div class="stack">
        <Block name="scoring" title="Motif scoring">
          <ScoreBox />
          <ResultList title="Recent results" shown={6} />
        </Block>
        <Block name="inventory" title="Inventory">
          {hasStock && (
            <div class="columns">
              {session && <RecentChanges />}
              <RunningOutPanel />
              <FindTube />
            </div>
          )}
          {hasStock === false && <StartInventory />}
        </Block>
      </div>
    </>
  );
}

/** A part of the page that can be closed, and stays closed on this device. */
function Block({ name, title, children }: { name: string; title: string; children: ComponentChildren }) {
  const [isOpen, setOpen] = useState(true);
  const readClosed = (): string[] => readStored("closed", []);
  useEffect(() => setOpen(!readClosed().includes(name)), []);
  const toggle = (event: Event): void => {
    event.preventDefault();
    setOpen(!isOpen);
    const others = readClosed().filter((each) => each !== name);
    writeStored("closed", isOpen ? [...others, name] : others);
  };
  return (
    <details class="disclosed block" open={isOpen}>
      <summary onClick={toggle}>
        <Icon name="chevron-right" />
        <h2>{title}</h2>
      </summary>
      <div class="stack">{children}</div>
    </details>
  );
}

/** Opens the record of a code. */
function FindTube() {
  const [code, setCode] = useState("");
  return (
    <Card title="Find a tube">
      <form
        class="form-inline"
        onSubmit={(event) => {
          event.preventDefault();
          if (code.trim() !== "") location.assign(href(`/i/${encodeURIComponent(code.trim())}`));
        }}
      >
        <TextField
          label="Barcode"
          hideLabel
          placeholder="Scan or type a barcode"
          autocomplete="off"
          autocapitalize="none"
          value={code}
          onInput={setCode}
        />
        <Button type="submit">Open</Button>
      </form>
    </Card>
  );
}

const StartInventory = () => (
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
);

export const homePage = definePage({ name: "home", paths: ["/"], title: "Home", View: Home });
