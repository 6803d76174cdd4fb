import { afterAll, afterEach, expect, spyOn, test } from "bun:test";
import { renderToString } from "preact-render-to-string";
import {
  type AdministrationContext,
  type AdministrationPage,
  administrationPage,
  AdministrationTable,
  perform,
} from "../../src/web/administration/page.tsx";
import { parseAddress, PageView } from "../../src/web/page.tsx";
import { call } from "../../src/web/request.ts";
import { runPending } from "../wait.ts";

/** A worked example: all that the file of an administration page holds. */

interface Probe {
  id: string;
  name: string;
  paused: boolean;
}
interface Probes {
  results: readonly Probe[];
}
/** A page calls operations that the server declares; these are the example's. */
interface ProbeCalls {
  (key: "GET /api/admin/probes", options: { signal: AbortSignal }): Promise<Probes>;
  (key: "POST /api/admin/probes/:id/pause", options: { params: { id: string } }): Promise<Probe>;
  (key: "DELETE /api/admin/probes/:id", options: { params: { id: string } }): Promise<void>;
}
const callProbes = call as unknown as ProbeCalls;

const config: AdministrationPage<Probes, Probe> = {
  section: "jobs",
  intro: ({ results }) => `${results.length} probes run every minute.`,
  load: (_query, signal) => callProbes("GET /api/admin/probes", { signal }),
  rowKey: ({ id }) => id,
  rowName: ({ name }) => name,
  empty: { title: "No probes", text: "Add one in the settings." },
  columns: [
    { name: "name", title: "Name", heading: true, cell: ({ name }) => name },
    { name: "state", title: "State", phone: "end", cell: ({ paused }) => (paused ? "paused" : "active") },
  ],
  actions: [
    {
      label: "Pause",
      applies: ({ paused }) => !paused,
      run: ({ id }) => callProbes("POST /api/admin/probes/:id/pause", { params: { id } }),
      done: ({ name }) => `Paused ${name}.`,
    },
    {
      label: "Delete",
      confirm: ({ name }) => ({ title: `Delete ${name}?`, text: "You cannot undo this." }),
      run: ({ id }) => callProbes("DELETE /api/admin/probes/:id", { params: { id } }).then(() => null),
      done: ({ name }) => `Deleted ${name}.`,
    },
  ],
};
const page = administrationPage(config);

const disk = { id: "1", name: "disk", paused: false };
const clock = { id: "2", name: "clock", paused: true };

/** A context whose `update` replaces the data. */
function makeContext(results: readonly Probe[]): AdministrationContext<Probes> {
  const context: AdministrationContext<Probes> = {
    data: { results },
    query: new URLSearchParams(),
    setQuery() {},
    reload: () => void (context.data = { results: [] }),
    update: (change) => void (context.data = change(context.data)),
    open() {},
    startTask() {},
    watchTasks() {},
    taskIsRunning: false,
  };
  return context;
}

const fetched = spyOn(globalThis, "fetch");
afterEach(() => fetched.mockReset());
afterAll(() => fetched.mockRestore());
const answer = (status: number, body: unknown): void => {
  const response = new Response(status === 204 ? null : JSON.stringify(body), { status });
  fetched.mockImplementation((async () => response) as unknown as typeof fetch);
};

test("the server renders tabs, title and a skeleton", () => {
  const address = parseAddress(page, new URL("http://lab/administration/jobs"));
  const html = renderToString(<PageView page={page} address={address} />);
  expect(html).toContain("<h1>Jobs</h1>");
  expect(html).toMatch(/href="\/administration\/jobs" aria-current="page"/);
  expect(html).toContain('aria-label="Loading"');
  expect(html).not.toContain("probes");
});

test("a row has buttons for the available actions", () => {
  const html = renderToString(<AdministrationTable config={config} page={makeContext([disk, clock])} />);
  const labels = [...html.matchAll(/aria-label="(\w+: \w+)"/g)].map(([, label]) => label);
  expect(labels).toEqual(["Pause: disk", "Delete: disk", "Delete: clock"]);
  expect(html).toContain('<td class="phone-end">paused</td>');
  const empty = renderToString(<AdministrationTable config={config} page={makeContext([])} />);
  expect(empty).toContain("No probes");
  expect(empty).not.toContain("<table");
});

const [pause, remove] = config.actions!;

test.each([
  ["replaces a row that the write returned", pause, 200, [{ ...disk, paused: true }, clock]],
  ["removes a row that is gone", { ...remove, confirm: undefined! }, 204, [clock]],
  ["keeps the rows after an error", pause, 409, [disk, clock]],
])("the test action %s", async (_name, action, status, expected) => {
  answer(status, { ...disk, paused: true });
  const context = makeContext([disk, clock]);
  perform(action, disk, config, context);
  await runPending();
  expect(fetched).toHaveBeenCalledTimes(1);
  expect(context.data.results).toEqual(expected);
});

test("an action that needs confirmation sends nothing before it", async () => {
  perform(remove, disk, config, makeContext([disk]));
  await runPending();
  expect(fetched).not.toHaveBeenCalled();
});
