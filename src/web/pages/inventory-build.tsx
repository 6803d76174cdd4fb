import { useEffect, useState } from "preact/hooks";
import { href } from "../address.ts";
import { Button, LinkButton } from "../components/button.tsx";
import { Card, PageHead } from "../components/layout.tsx";
import { pluralize } from "../format.tsx";
import { type Built, BuildForm } from "../inventory/build/build-form.tsx";
import { pagePath } from "../inventory/declaration.ts";
import { treeAddress } from "../inventory/path.tsx";
import { SignInFirst } from "../inventory/sign-in-first.tsx";
import { showBatch, undo } from "../inventory/write-record.ts";
import { definePage } from "../page.tsx";

function InventoryBuild() {
  const [built, setBuilt] = useState<Built | null>(null);
  return (
    <>
      <PageHead
        title="Build rooms and freezers"
        crumbs={[{ name: "Storage", href: href("/inventory/storage") }]}
      >
        Describe a freezer once; all its shelves, racks and boxes are created together.
      </PageHead>
      <SignInFirst to="build storage">
        {built ? <Result built={built} onAgain={() => setBuilt(null)} /> : <BuildForm onBuilt={setBuilt} />}
      </SignInFirst>
    </>
  );
}

/** The created storage, and next steps. */
function Result({ built: { results, batch, place }, onAgain }: { built: Built; onAgain: () => void }) {
  const { places, equipment, locations, first_created, last_created } = results;
  useEffect(
    () => showBatch(`Built ${pluralize(places + equipment + locations, "record")}.`, batch, onAgain),
    [],
  );
  const labels = {
    list: "locations",
    created__gte: String(first_created),
    created__lte: String(last_created),
    ordering: "created",
  };
  const tree = place === "" ? href("/inventory/storage") : treeAddress({ segment: "places", id: place });
  return (
    <Card title="Built">
      <p role="status">
        {[
          places > 0 && pluralize(places, "room"),
          equipment > 0 && pluralize(equipment, "piece of equipment", "pieces of equipment"),
          locations > 0 && pluralize(locations, "location"),
        ]
          .filter(Boolean)
          .join(", ")}{" "}
        created.
      </p>
      <div class="actions">
        <LinkButton look="primary" icon="refrigerator" href={tree}>
          Show in Storage
        </LinkButton>
        {locations > 0 && (
          <LinkButton icon="printer" href={href("/inventory/labels", labels)}>
            Print labels
          </LinkButton>
        )}
        <LinkButton icon="upload" href={href(`${pagePath("stocks/consumables")}/import`)}>
          Import their contents
        </LinkButton>
        <Button icon="plus" onClick={onAgain}>
          Build another
        </Button>
        {batch !== null && (
          <Button look="quiet" icon="undo-2" onClick={() => void undo(batch, onAgain)}>
            Undo
          </Button>
        )}
      </div>
    </Card>
  );
}

export const inventoryBuildPage = definePage({
  name: "inventory-build",
  paths: ["/inventory/build"],
  title: "Build rooms and freezers",
  View: InventoryBuild,
});
