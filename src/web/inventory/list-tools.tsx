import { useState } from "preact/hooks";
import { href } from "../address.ts";
import { useLoaded } from "../components/loaded.tsx";
import { showToast } from "../components/toast.tsx";
import { Button } from "../components/button.tsx";
import { Checkbox, TextField } from "../components/field.tsx";
import type { SetQuery } from "../page.tsx";
import { requestJson, get, ApiError } from "../request.ts";
import type { Session } from "../session.ts";
import { LIST_ACTIONS } from "./actions.ts";
import { api, columnTitle, type Declaration, isCommon, pageOf, usualColumns } from "./declaration.ts";
import { filtersOf, viewQuery } from "./list-address.ts";
import { Menu } from "./menu.tsx";
import { undo } from "./write-record.ts";

/** The menus above a list: columns, views, files, and what else can be done. */

export function ColumnsMenu(props: { of: Declaration; columns: readonly string[]; setQuery: SetQuery }) {
  const { of, columns, setQuery } = props;
  const [span, setSpan] = useState("");
  const shown = Object.keys(of.fields).filter(
    (name) => of.fields[name].kind !== "computed" && name !== of.key,
  );
  const all = [...shown.filter((name) => !isCommon(name)), ...shown.filter(isCommon)];

  const choose = (chosen: readonly string[]): void =>
    setQuery({ fields: chosen.join() === usualColumns(of).join() ? null : chosen.join(",") });
  const toggle = (name: string, on: boolean): void =>
    choose(on ? [...columns, name] : columns.filter((each) => each !== name));
  const move = (name: string): void => {
    const at = columns.indexOf(name);
    const rest = columns.filter((each) => each !== name);
    choose([...rest.slice(0, Math.max(1, at - 1)), name, ...rest.slice(Math.max(1, at - 1))]);
  };
  return (
    <Menu label="Columns">
      <ul class="bare columns-chosen">
        {[...columns.filter((name) => name !== of.key), ...all.filter((name) => !columns.includes(name))].map(
          (name) => (
            <li key={name} class="row">
              <Checkbox
                label={columnTitle(of, name)}
                checked={columns.includes(name)}
                onChange={(on) => toggle(name, on)}
              />
              {columns.indexOf(name) > 1 && (
                <Button
                  look="quiet"
                  aria-label={`Move ${columnTitle(of, name)} to the left`}
                  onClick={() => move(name)}
                >
                  ←
                </Button>
              )}
            </li>
          ),
        )}
      </ul>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (span.includes("__") && !columns.includes(span.trim())) choose([...columns, span.trim()]);
          setSpan("");
        }}
      >
        <TextField
          label="A column over a reference"
          hint="For example location__label, location__place__building."
          value={span}
          code
          onInput={setSpan}
        />
        <p class="row">
          <Button type="submit">Add</Button>
          <Button look="quiet" onClick={() => setQuery({ fields: null })}>
            Usual columns
          </Button>
        </p>
      </form>
    </Menu>
  );
}

interface View {
  id: string;
  name: string;
  description: string;
  query: string;
  owner: string;
}

/** Views of the list: open one, keep what is shown as one, share one on its own page. */
export function ViewsMenu(props: {
  of: Declaration;
  search: URLSearchParams;
  session: Session | null | undefined;
}) {
  const { of, search, session } = props;
  const [name, setName] = useState("");
  const [error, setError] = useState<unknown>(null);
  const [open, setOpen] = useState(false);
  const views = useLoaded(open ? of.name : null, async (signal) => {
    const query = {
      list: of.name,
      response_format: "flat",
      page_size: "200",
      fields: "id,name,description,query,owner",
    };
    return (await get<{ results: View[] }>("/api/v2/views/", query, signal)).results;
  });
  const current = viewQuery(search);
  const me = session?.user.username;
  const save = async (event: Event): Promise<void> => {
    event.preventDefault();
    setError(null);
    try {
      await requestJson("POST", "/api/v2/views/", { body: { name, list: of.name, query: current } });
      showToast(`Saved as “${name}”. Nobody else sees it until you share it.`);
      setName("");
      views.reload();
    } catch (problem) {
      setError(problem);
    }
  };
  const replace = async ({ id, name: known }: View): Promise<void> => {
    try {
      await requestJson("PATCH", `/api/v2/views/${id}/`, { body: { query: current } });
      showToast(`“${known}” is now what is shown here.`);
      views.reload();
    } catch (problem) {
      showToast((problem as Error).message, "error");
    }
  };
  return (
    <Menu label="Views" onOpen={() => setOpen(true)}>
      {views.value?.length === 0 && (
        <p class="muted">None yet. Filter, order and choose columns; then save it here.</p>
      )}
      <ul class="bare">
        {views.value?.map((view) => (
          <li key={view.id}>
            <a href={`${href(pageOf(of.name))}?${view.query}`} title={view.description || undefined}>
              {view.name}
            </a>{" "}
            {sameQuery(view.query, current) && <span class="tag good">shown</span>}{" "}
            <small>{view.owner === me ? "yours" : `of ${view.owner}`}</small>{" "}
            <a href={href(pageOf("views", view.id))}>
              <small>{view.owner === me ? "Share, rename" : "About"}</small>
              <span class="unseen"> the view {view.name}</span>
            </a>
            {view.owner === me && !sameQuery(view.query, current) && (
              <Button look="quiet" onClick={() => void replace(view)}>
                <small>
                  Replace<span class="unseen"> the view {view.name} by what is shown</span>
                </small>
              </Button>
            )}
          </li>
        ))}
      </ul>
      {session ? (
        <form onSubmit={save}>
          <TextField
            label="Save what is shown as"
            value={name}
            required
            onInput={setName}
            errors={error instanceof ApiError ? (error.fields.name ?? [error.message]) : undefined}
          />
          <Button type="submit" look="primary">
            Save
          </Button>
        </form>
      ) : (
        <p class="muted">Sign in to save views.</p>
      )}
    </Menu>
  );
}

/** Whether two queries ask for the same, whatever the order of their parameters and how they are escaped. */
const sameQuery = (a: string, b: string): boolean =>
  viewQuery(new URLSearchParams(a)) === viewQuery(new URLSearchParams(b));

/** Files of all that is found, import, and what else there is. */
export function MoreMenu(props: {
  of: Declaration;
  search: URLSearchParams;
  columns: readonly string[];
  ids: readonly string[];
  session: Session | null | undefined;
  onChanged: () => void;
}) {
  const { of, search, columns, ids, session } = props;
  const found = ids.length > 0 ? { id: ids } : filtersOf(search);
  const file = (format: string): string =>
    href(api(of.name), {
      ...found,
      ordering: search.get("ordering"),
      fields: ["id", ...columns].join(","),
      response_format: "flat",
      format,
    });
  const what = ids.length > 0 ? "what is selected" : "all that is found";
  const query = new URLSearchParams(
    Object.entries(found).flatMap(([name, values]) => values.map((value): [string, string] => [name, value])),
  ).toString();
  return (
    <Menu label="More">
      <ul class="bare">
        <li>
          <a href={file("csv")} download="">
            CSV of {what}
          </a>
        </li>
        <li>
          <a href={file("xlsx")} download="">
            XLSX of {what}
          </a>
        </li>
        {session && (
          <li>
            <a href={href(`${pageOf(of.name)}/import`)}>Import a file</a>
          </li>
        )}
        {LIST_ACTIONS.filter((action) => action.for?.(of.name) ?? true).map(({ label, path }) => (
          <li key={label}>
            <a href={href(path({ segment: of.name, query, ids }))}>{label}</a>
          </li>
        ))}
        {search.get("deleted") === null && (
          <li>
            <a href={href(pageOf(of.name), { deleted: "true", ordering: "-deleted_date" })}>
              Deleted records
            </a>
          </li>
        )}
        <li>
          <a href={href(api(of.name), { ...filtersOf(search), format: "api" })}>The same in the interface</a>
        </li>
      </ul>
      {session && <LastBatches of={of} onChanged={props.onChanged} />}
    </Menu>
  );
}

interface Batch {
  id: string;
  kind: string;
  at: string;
  undone_by: string | null;
  changes: Record<string, number>;
}

/** What the caller did last to records of this list, each to be taken back: a toast goes away, this stays. */
function LastBatches({ of, onChanged }: { of: Declaration; onChanged: () => void }) {
  const [open, setOpen] = useState(false);
  const batches = useLoaded(open ? "batches" : null, async (signal) => {
    const { user } = await get<{ user: { username: string } }>("/api/v2/session/", {}, signal);
    const query = { user: user.username, page_size: "20" };
    const { results } = await get<{ results: Batch[] }>("/api/v2/batches/", query, signal);
    return results.filter(({ changes, undone_by }) => of.name in changes && undone_by === null).slice(0, 5);
  });
  if (!open)
    return (
      <Button look="quiet" onClick={() => setOpen(true)}>
        Undo earlier changes of yours …
      </Button>
    );
  return (
    <ul class="bare">
      {batches.value?.length === 0 && <li class="muted">None.</li>}
      {batches.value?.map(({ id, kind, at, changes }) => (
        <li key={id} class="row">
          <span>
            {kind.replaceAll("_", " ")}, {changes[of.name].toLocaleString("en")} · {at.slice(11, 16)}
          </span>
          <Button
            look="quiet"
            onClick={() =>
              void undo(id, () => {
                batches.reload();
                onChanged();
              })
            }
          >
            Undo
          </Button>
        </li>
      ))}
    </ul>
  );
}
