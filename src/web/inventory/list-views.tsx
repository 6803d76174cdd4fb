import type { JsonRecord } from "../../inventory/api/list-operations.ts";
import { useState } from "preact/hooks";
import { href } from "../address.ts";
import { Button } from "../components/button.tsx";
import { FormDialog } from "../components/form.tsx";
import { Icon } from "../components/icon.tsx";
import { type Loadable, useLoaded } from "../components/loaded.tsx";
import { showToast, withErrorToast } from "../components/toast.tsx";
import { formatCount } from "../format.tsx";
import { useQuery, useTitle } from "../page.tsx";
import { call } from "../request.ts";
import { useSession } from "../session.ts";
import { LISTS, listTitle } from "../../inventory/resources/lists.ts";
import { type Declaration, pagePath } from "./declaration.ts";
import { parseFilters, viewQuery } from "./list-address.ts";
import { STOCK_VIEWS } from "../../inventory/resources/stock-views.ts";
import { countRecords, readList, readRows } from "./read-list.ts";

export interface View {
  list: string;
  id: string;
  name: string;
  description: string;
  query: string;
  owner: string;
}

/** Saved views of a kind: of one list, or layouts of labels, which are for all. */
export const useViews = (of: { list?: string; kind: "list" | "labels" }): Loadable<View[]> =>
  useLoaded(`${of.kind} ${of.list}`, async (signal) => {
    const fields = "id,name,description,query,owner";
    const query = { ...of, response_format: "flat", page_size: "50", fields };
    return (await readList<View>("views", query, signal)).results;
  });

/** Views that show how many records they find. */
const MAX_COUNTED = 12;

/** A tab of a view, with the number of its records once that is known. */
function ViewTab(props: {
  of: Declaration;
  query: string;
  name: string;
  title?: string | undefined;
  isCurrent: boolean;
  isCounted: boolean;
}) {
  const { of, query, name, isCounted } = props;
  const { value } = useLoaded(isCounted ? query : null, (signal) => {
    const filters = parseFilters(new URLSearchParams(query));
    return countRecords(of.name, filters, signal);
  });
  return (
    <a
      class="tab"
      href={href(pagePath(of.name)) + (query && `?${query}`)}
      title={props.title}
      aria-current={props.isCurrent ? "page" : undefined}
    >
      {name} {value !== undefined && <span class="count">{formatCount(value)}</span>}
    </a>
  );
}

/** Views of all lists of stock. */
function stockViews({ fields }: Declaration, isSignedIn: boolean) {
  if (!("below_minimum" in fields)) return [];
  return STOCK_VIEWS.filter(({ filters }) => isSignedIn || !("mine" in filters)).map(
    ({ title, filters, ordering }) => ({
      name: title,
      query: viewQuery(new URLSearchParams({ ...filters, ordering })),
    }),
  );
}

/** The views of a list as tabs, and a button that saves the current filter, order and columns as one. */
export function ViewTabs({ of }: { of: Declaration }) {
  const [search] = useQuery();
  const session = useSession();
  const views = useViews({ list: of.name, kind: "list" });
  const [isSaving, setSaving] = useState(false);
  const current = viewQuery(search);
  const isShown = ({ query }: { query: string }): boolean =>
    viewQuery(new URLSearchParams(query)) === current;
  const shown = views.value?.find(isShown);
  useTitle(shown?.name);
  const own = stockViews(of, session !== null);
  return (
    <nav class="tabs" aria-label="Views">
      <ViewTab of={of} query="" name="All" isCurrent={current === ""} isCounted />
      {own.map((view) => (
        <ViewTab key={view.name} of={of} {...view} isCurrent={isShown(view)} isCounted />
      ))}
      {LISTS[of.name]?.beside?.map((segment) => (
        <a key={segment} class="tab" href={href(pagePath(segment))}>
          {listTitle(segment)}
        </a>
      ))}
      {views.value?.map((view, i) => (
        <ViewTab
          key={view.id}
          of={of}
          query={view.query}
          name={view.name}
          title={view.description || undefined}
          isCurrent={view === shown}
          isCounted={i < MAX_COUNTED}
        />
      ))}
      {shown && (
        <a class="tab muted" href={href(pagePath("views", shown.id))}>
          Edit view
        </a>
      )}
      {session && !shown && current !== "" && !own.some(isShown) && (
        <button type="button" class="tab muted" onClick={() => setSaving(true)}>
          <Icon name="bookmark-plus" /> Save view
        </button>
      )}
      {isSaving && (
        <SaveView
          title="Save view"
          view={{ list: of.name, kind: "list", query: current }}
          views={views}
          onClose={() => setSaving(false)}
        />
      )}
    </nav>
  );
}

/** Asks for the name of a new view, or replaces one of the person's own. */
export function SaveView(props: {
  title: string;
  view: { list: string; kind: "list" | "labels"; query: string };
  views: Loadable<View[]>;
  onClose: () => void;
  onSaved?: (view: View) => void;
}) {
  const { title, view, views, onClose } = props;
  const username = useSession()?.user.username;
  const own = views.value?.filter(({ owner }) => owner === username) ?? [];
  const save = async (written: Promise<JsonRecord>, done: string): Promise<void> => {
    const [saved] = readRows<View>([await written]);
    views.update((all) => [...all.filter(({ id }) => id !== saved.id), saved]);
    props.onSaved?.(saved);
    showToast(done);
  };
  return (
    <FormDialog
      title={title}
      fields={[{ name: "name", label: "Name" }]}
      initial={{ name: "" }}
      submit="Save"
      onClose={onClose}
      onSubmit={async ({ name }) => {
        await save(
          call("POST /api/v2/:list/", { params: { list: "views" }, body: { name, ...view } }),
          `Saved ${name}. Only you can see it until you share it.`,
        );
      }}
    >
      {own.length > 0 && (
        <div class="row">
          Or replace
          {own.map(({ id, name }) => (
            <Button
              key={id}
              small
              onClick={() =>
                void withErrorToast(async () => {
                  const params = { list: "views", id };
                  await save(
                    call("PATCH /api/v2/:list/:id/", { params, body: { query: view.query } }),
                    `Replaced ${name}.`,
                  );
                  onClose();
                })
              }
            >
              {name}
            </Button>
          ))}
        </div>
      )}
    </FormDialog>
  );
}
