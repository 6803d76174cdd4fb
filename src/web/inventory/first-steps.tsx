import { useState } from "preact/hooks";
import { href } from "../address.ts";
import { Button, LinkButton } from "../components/button.tsx";
import { Card } from "../components/layout.tsx";
import { withErrorToast } from "../components/toast.tsx";
import { callForResponse } from "../request.ts";
import { useSession } from "../session.ts";
import { pagePath, listTitle } from "./declaration.ts";
import { showDone } from "./write-record.ts";

const importLink = (segment: string): string => href(`${pagePath(segment)}/import`);

/** First steps in an empty inventory. */
export function FirstSteps({ onLoaded }: { onLoaded: () => void }) {
  const session = useSession();
  if (!session)
    return (
      <Card title="The inventory is empty">
        <p>
          {session === null && <a href={href("/sign-in", { next: "/inventory" })}>Sign in</a>} to see private
          records and to add some.
        </p>
      </Card>
    );
  return (
    <div class="columns">
      <Card title="Build rooms and freezers">
        <p>Describe a freezer once: its shelves, racks and boxes are created together, with labels.</p>
        <div class="actions">
          <LinkButton look="primary" icon="layers" href={href("/inventory/build")}>
            Build rooms and freezers
          </LinkButton>
        </div>
      </Card>
      <Card title="Import a spreadsheet">
        <p>
          CSV or XLSX files of any program, or an archive (.eln) of labd or eLabFTW. The preview shows what
          will be added before anything is.
        </p>
        <div class="actions">
          {["stocks/consumables", "stocks/specimen", "locations"].map((segment) => (
            <LinkButton key={segment} icon="upload" href={importLink(segment)}>
              {listTitle(segment)}
            </LinkButton>
          ))}
        </div>
      </Card>
      {session.user.is_superuser === true && <LoadSample onLoaded={onLoaded} />}
    </div>
  );
}

function LoadSample({ onLoaded }: { onLoaded: () => void }) {
  const [isBusy, setBusy] = useState(false);
  const load = async (): Promise<void> => {
    setBusy(true);
    await withErrorToast(async () => {
      const response = await callForResponse("POST /api/v2/sample/");
      showDone("Loaded the sample data.", response, onLoaded);
      onLoaded();
    });
    setBusy(false);
  };
  return (
    <Card title="Look around first">
      <p>Load a small laboratory with freezers, boxes and reagents. One click removes it again.</p>
      <div class="actions">
        <Button icon="flask-conical" busy={isBusy} onClick={() => void load()}>
          Load the sample data
        </Button>
      </div>
    </Card>
  );
}

/** Next step once there are locations, but nothing in them. */
export const NextStep = () => (
  <Card title="Next: fill the boxes">
    <p>Import your lists of tubes and reagents, or add them one by one on the page of a box.</p>
    <div class="actions">
      <LinkButton look="primary" icon="upload" href={importLink("stocks/consumables")}>
        Import consumables
      </LinkButton>
      <LinkButton icon="upload" href={importLink("stocks/specimen")}>
        Import specimens
      </LinkButton>
      <LinkButton icon="refrigerator" href={href("/inventory/storage")}>
        Open a box
      </LinkButton>
    </div>
  </Card>
);
