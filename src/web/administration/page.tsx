import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { href } from "../address.ts";
import { Button } from "../components/button.tsx";
import { confirm } from "../components/confirm.tsx";
import { DataLink } from "../components/data-link.tsx";
import { Empty } from "../components/empty.tsx";
import { PageHead } from "../components/layout.tsx";
import { Loaded, useLoaded, usePolling } from "../components/loaded.tsx";
import { Menu } from "../components/menu.tsx";
import { type Column, Table } from "../components/table.tsx";
import { showToast, withErrorToast } from "../components/toast.tsx";
import { definePage, type Page, type SetQuery, useQuery } from "../page.tsx";
import { useFarm } from "./farm.ts";
import { TaskList, type TaskKinds, useTasks } from "./tasks.tsx";

/** The administration pages in the order of the tabs: file name after `administration-`, and title. */
const SECTIONS = {
  health: "Health",
  users: "People",
  tokens: "Tokens",
  audit: "Audit log",
  backups: "Backups",
  corpora: "Corpora",
  "motif-classes": "Motif classes",
  features: "Features",
  jobs: "Jobs",
  farm: "Farm",
} as const;
type Section = keyof typeof SECTIONS;

const sectionPath = (section: Section): string =>
  section === "health" ? "/administration" : `/administration/${section}`;

/** Data and actions for the parts of an administration page. */
export interface AdministrationContext<Data> {
  data: Data;
  query: URLSearchParams;
  setQuery: SetQuery;
  reload: () => void;
  /** Replaces the data by what a write returned, without a request. */
  update: (change: (data: Data) => Data) => void;
  /** Shows a dialog until `close` is called. */
  open: (dialog: (close: () => void) => ComponentChildren) => void;
  /** Starts a task on the server and follows it. */
  startTask: (start: () => Promise<unknown>) => void;
  /** Follows a task that was started elsewhere. */
  watchTasks: () => void;
  taskIsRunning: boolean;
}

/** A button at the end of a row. */
interface RowAction<Data, Row> {
  label: string;
  /** The rows that have it; all unless given. */
  applies?: (row: Row, data: Data) => boolean;
  /** Asks first. */
  confirm?: (row: Row) => { title: string; text: string };
  /** @returns the row as it is now, null where it is gone, nothing where the page must be loaded again or stays */
  run: (row: Row, page: AdministrationContext<Data>) => Promise<Row | null | void> | void;
  /** Shown afterwards. */
  done?: (row: Row) => string;
  /** True for actions in the menu behind "…". */
  inMenu?: boolean;
}

export interface AdministrationPage<Data extends { results: readonly Row[] }, Row> {
  section: Section;
  /** Below the title. */
  intro?: (data: Data) => ComponentChildren;
  load: (query: URLSearchParams, signal: AbortSignal) => Promise<Data>;
  rowKey: (row: Row) => string | number;
  rowName: (row: Row) => string;
  columns: readonly Column<Row>[];
  actions?: readonly RowAction<Data, Row>[];
  /** `isData`: the chapter on the files to import says where to get them. */
  empty: { title: string; text: string; isData?: boolean };
  /** Buttons of the page. */
  buttons?: (page: AdministrationContext<Data>) => ComponentChildren;
  /** Above everything that is loaded. */
  filter?: (page: Pick<AdministrationContext<Data>, "query" | "setQuery">) => ComponentChildren;
  above?: (page: AdministrationContext<Data>) => ComponentChildren;
  below?: (page: AdministrationContext<Data>) => ComponentChildren;
  /** Below the table. */
  foot?: (page: AdministrationContext<Data>) => ComponentChildren;
  tasks?: TaskKinds;
  /** Loads again every two seconds. */
  polls?: boolean;
  /** The number of rows that appear at first, and a noun for them. */
  first?: { rows: number; of: string };
}

/** Defines an administration page that lists rows: its file needs nothing else. */
export function administrationPage<Data extends { results: readonly Row[] }, Row>(
  config: AdministrationPage<Data, Row>,
): Page {
  return defineAdministration(config.section, () => <AdministrationList {...config} />);
}

/** Defines an administration page of another kind. */
export const defineAdministration = (section: Section, View: Page["View"]): Page =>
  definePage({
    name: section === "health" ? "administration" : `administration-${section}`,
    paths: [sectionPath(section)],
    title: SECTIONS[section],
    View,
  });

function AdministrationList<Data extends { results: readonly Row[] }, Row>(
  config: AdministrationPage<Data, Row>,
) {
  const [query, setQuery] = useQuery();
  const loaded = useLoaded(query.toString(), (signal) => config.load(query, signal));
  const { reload, update } = loaded;
  const { tasks, startTask, watchTasks, taskEnded } = useTasks(config.tasks, reload);
  const [dialog, setDialog] = useState<((close: () => void) => ComponentChildren) | null>(null);
  if (config.polls) usePolling(reload);
  const open: AdministrationContext<Data>["open"] = (shown) => setDialog(() => shown);
  const taskIsRunning = tasks.some(({ state }) => state === "running");
  const actions = { query, setQuery, reload, update, open, startTask, watchTasks, taskIsRunning };
  const makeContext = (data: Data): AdministrationContext<Data> => ({ data, ...actions });
  const { value } = loaded;
  return (
    <AdministrationFrame
      section={config.section}
      intro={value && config.intro?.(value)}
      buttons={value && config.buttons?.(makeContext(value))}
    >
      {config.tasks && <TaskList tasks={tasks} onEnd={taskEnded} />}
      {config.filter?.({ query, setQuery })}
      <Loaded of={loaded}>
        {(data) => <AdministrationTable config={config} page={makeContext(data)} />}
      </Loaded>
      {dialog?.(() => setDialog(null))}
    </AdministrationFrame>
  );
}

/** The tabs and the head of an administration page. */
export function AdministrationFrame(props: {
  section: Section;
  intro?: ComponentChildren;
  buttons?: ComponentChildren;
  children: ComponentChildren;
}) {
  const { value: farm } = useFarm();
  const shown = (Object.keys(SECTIONS) as Section[]).filter(
    (section) => section !== "farm" || props.section === "farm" || farm?.enabled,
  );
  return (
    <>
      <nav class="tabs" aria-label="Administration">
        {shown.map((section) => (
          <a
            key={section}
            class="tab"
            href={href(sectionPath(section))}
            aria-current={section === props.section ? "page" : undefined}
          >
            {SECTIONS[section]}
          </a>
        ))}
      </nav>
      <PageHead title={SECTIONS[props.section]} actions={props.buttons}>
        {props.intro}
      </PageHead>
      <div class="stack">{props.children}</div>
    </>
  );
}

/** The content of a list page after its data have arrived. */
export function AdministrationTable<Data extends { results: readonly Row[] }, Row>(props: {
  config: AdministrationPage<Data, Row>;
  page: AdministrationContext<Data>;
}) {
  const { config, page } = props;
  const { rowKey, columns, actions = [], empty, first } = config;
  const rows = page.data.results;
  return (
    <>
      {config.above?.(page)}
      <div class="card">
        {rows.length === 0 ? (
          <Empty title={empty.title}>
            <p>{empty.text}</p>
            {empty.isData && <DataLink />}
          </Empty>
        ) : (
          <Table
            caption={SECTIONS[config.section]}
            {...{ rows, columns, rowKey }}
            {...(first ? { first } : {})}
            {...(actions.length > 0
              ? { actions: (row: Row) => <RowActions config={config} page={page} row={row} /> }
              : {})}
          />
        )}
        {config.foot && <div class="card-foot">{config.foot(page)}</div>}
      </div>
      {config.below?.(page)}
    </>
  );
}

function RowActions<Data extends { results: readonly Row[] }, Row>(props: {
  config: AdministrationPage<Data, Row>;
  page: AdministrationContext<Data>;
  row: Row;
}) {
  const { config, page, row } = props;
  const name = config.rowName(row);
  const open = (config.actions ?? []).filter(({ applies }) => applies?.(row, page.data) ?? true);
  const button = (action: RowAction<Data, Row>) => (
    <Button
      key={action.label}
      look="quiet"
      small
      aria-label={`${action.label}: ${name}`}
      onClick={() => perform(action, row, config, page)}
    >
      {action.label}
    </Button>
  );
  const inMenu = open.filter((action) => action.inMenu);
  return (
    <>
      {open.filter((action) => !action.inMenu).map(button)}
      {inMenu.length > 0 && <Menu label={`More actions: ${name}`}>{inMenu.map(button)}</Menu>}
    </>
  );
}

/** Runs an action, after asking where it needs that, and puts its outcome into the page. */
export function perform<Data extends { results: readonly Row[] }, Row>(
  action: RowAction<Data, Row>,
  row: Row,
  { rowKey }: Pick<AdministrationPage<Data, Row>, "rowKey">,
  page: AdministrationContext<Data>,
): void {
  const run = async (): Promise<void> => {
    const outcome = await action.run(row, page);
    if (outcome === undefined) {
      if (action.done) page.reload();
    } else
      page.update((data) => ({
        ...data,
        results: data.results.flatMap((each) =>
          rowKey(each) !== rowKey(row) ? [each] : outcome === null ? [] : [outcome],
        ),
      }));
    if (action.done) showToast(action.done(row));
  };
  if (action.confirm) confirm({ ...action.confirm(row), verb: action.label, run });
  else void withErrorToast(run);
}
