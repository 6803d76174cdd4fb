import { href } from "../address.ts";
import { api, declaration, pageOf, segmentOf, titleOf, writableFields } from "../inventory/declaration.ts";
import { readRecord, sent } from "../inventory/record.tsx";
import { RecordForm } from "../inventory/record-form.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { definePage, navigate, useParams, useQuery, useTitle } from "../page.tsx";
import { ErrorBanner } from "../components/banner.tsx";
import { requestJson } from "../request.ts";
import { useSession } from "../session.ts";

function InventoryNew() {
  const segment = segmentOf(useParams().list);
  const [query] = useQuery();
  const session = useSession();
  const title = `Add to ${titleOf(segment).toLowerCase()}`;
  useTitle(title);
  const copied = query.get("copy");
  const loaded = useLoaded(segment, async (signal) => {
    const of = await declaration(segment);
    return [of, copied ? await readRecord(segment, copied, signal) : undefined] as const;
  });
  const [of, copy] = loaded.value ?? [];
  // What the address names is filled in: `?parent=…` from the tree, `?copy=…` from a record.
  const values: Record<string, string> = {};
  if (of)
    for (const [name, field] of writableFields(of)) {
      const given = query.get(name);
      if (copy && !["barcode", "owner", "owned_by"].includes(name))
        values[name] = sent(copy.values[name], field);
      if (given !== null) values[name] = given;
    }
  return (
    <>
      <nav class="trail" aria-label="Path">
        <a href={href("/inventory")}>Inventory</a> › <a href={href(pageOf(segment))}>{titleOf(segment)}</a>
      </nav>
      <h1>{title}</h1>
      {Boolean(loaded.error) && <ErrorBanner error={loaded.error} retry={loaded.reload} />}
      {session === null && (
        <p class="note warn">
          Only who is signed in can add records.{" "}
          <a href={href("/sign-in", { next: `${pageOf(segment)}/new` })}>Sign in</a>
        </p>
      )}
      {of && session && (
        <RecordForm
          of={of}
          values={values}
          submit="Add"
          onSubmit={async (changed) => {
            const made = await requestJson<{ results: { id: string } }>("POST", api(segment), {
              query: { response_format: "flat", fields: "id" },
              body: changed,
            });
            navigate(pageOf(segment, made.results.id));
          }}
          onCancel={() => history.back()}
        />
      )}
    </>
  );
}

export const inventoryNewPage = definePage({
  name: "inventory-new",
  paths: ["/inventory/:list/new"],
  title: "Add a record",
  View: InventoryNew,
});
