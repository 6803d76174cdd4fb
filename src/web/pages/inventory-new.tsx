import type { Json } from "../../inventory/model/field.ts";
import { PageHead } from "../components/layout.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import {
  makeCrumb,
  declaration,
  pagePath,
  toSegment,
  listSingular,
  writableFields,
} from "../inventory/declaration.ts";
import { formatInput, readRecord } from "../inventory/record.tsx";
import { RecordForm } from "../inventory/record-form.tsx";
import { SignInFirst } from "../inventory/sign-in-first.tsx";
import { definePage, navigate, useParams, useQuery, useTitle } from "../page.tsx";
import { call } from "../request.ts";

function InventoryNew() {
  const segment = toSegment(useParams().list);
  const [query] = useQuery();
  const title = `Add ${listSingular(segment)}`;
  useTitle(title);
  const copied = query.get("copy");
  const loaded = useLoaded(segment, async (signal) => {
    const of = await declaration(segment);
    const copy = copied === null ? undefined : await readRecord(segment, copied, signal);
    // The address may name values, such as `?parent=…`.
    const fields = [...writableFields(of), ...Object.entries(of.annotations)];
    const values = fields.flatMap(([name, field]): [string, string][] => {
      const copiedValue =
        copy && field.form?.copied !== false ? formatInput(copy.values[name], field) : undefined;
      const value = query.get(name) ?? copiedValue;
      return value === undefined ? [] : [[name, value]];
    });
    return { of, values: Object.fromEntries(values) };
  });
  return (
    <>
      <PageHead title={title} crumbs={[makeCrumb(segment)]}>
        {loaded.value?.of.description}
      </PageHead>
      <SignInFirst to="add records">
        <Loaded of={loaded}>
          {({ of, values }) => (
            <RecordForm
              of={of}
              values={values}
              submit="Add"
              onSubmit={async (body) => {
                const added = await call("POST /api/v2/:list/", {
                  params: { list: segment },
                  body: body as Record<string, Json>,
                });
                // The page of the record says so, and offers its label.
                navigate(pagePath(segment, added.id), { added: 1 });
              }}
              onCancel={() => history.back()}
            />
          )}
        </Loaded>
      </SignInFirst>
    </>
  );
}

export const inventoryNewPage = definePage({
  name: "inventory-new",
  paths: ["/inventory/:list/new"],
  title: "Add a record",
  View: InventoryNew,
});
