import { expect, test } from "bun:test";
import type { ComponentChild } from "preact";
import { renderToString } from "preact-render-to-string";
import { ErrorBanner } from "../../src/web/components/banner.tsx";
import { Button } from "../../src/web/components/button.tsx";
import { Form } from "../../src/web/components/form.tsx";
import { KeyValues } from "../../src/web/components/layout.tsx";
import { Shell } from "../../src/web/components/shell.tsx";
import { Table } from "../../src/web/components/table.tsx";
import { browserName, formatCount, formatDate, formatDuration, formatSize } from "../../src/web/format.tsx";
import { ApplyDialog, type Count } from "../../src/web/inventory/stocktake-parts.tsx";
import { ApiError } from "../../src/web/request.ts";

test.each([
  [formatSize, 0, "0 bytes"],
  [formatSize, 999, "999 bytes"],
  [formatSize, 1000, "1.00 kB"],
  [formatSize, 1_500_000, "1.50 MB"],
  [formatSize, 2e15, "2.00e+3 TB"],
  [formatDuration, 0, "0 s"],
  [formatDuration, 59.9, "59 s"],
  [formatDuration, 60, "1 min 0 s"],
  [formatDuration, 3600, "1 h 0 min"],
  [formatDuration, 90_061, "1 d 1 h"],
  [formatCount, 14_902, "14,902"],
  [formatDate, Date.UTC(2027, 5, 30, 12), "30 Jun 2027"],
])("formats %p of %p as %p", (format: (value: number) => string, value, expected) => {
  expect(format(value)).toBe(expected);
});

test.each([
  ["Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0", "Firefox on Linux"],
  ["Mozilla/5.0 (Windows NT 10.0) AppleWebKit Chrome/120.0 Safari/537.36 Edg/120.0", "Edge on Windows"],
  ["Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) Safari/604.1", "Safari on iPhone"],
  ["curl/8.5.0", "curl"],
  ["", "Unknown browser"],
])("names the browser of %p as %p", (agent, expected) => {
  expect(browserName(agent)).toBe(expected);
});

test.each([
  [0, "Check your connection"],
  [400, "Correct it"],
  [401, 'href="/sign-in"'],
  [403, "Ask an administrator"],
  [412, "Reload the page"],
  [429, "Try again in 7 seconds."],
  [503, "Try again in 7 seconds."],
  [500, "the log has details"],
])("an error with status %p shows the next step %p", (status, step) => {
  const error = new ApiError(status, "code", "Message.", { retryAfter: 7 });
  expect(renderToString(<ErrorBanner error={error} />)).toContain(step);
});

test("an error of the page itself is called a bug", () => {
  expect(renderToString(<ErrorBanner error={new Error("x is undefined")} />)).toContain("This is a bug");
});

test("an error with a reason shows no second reason", () => {
  const error = new ApiError(403, "forbidden", "Administrators only.", { body: { reason: "not_admin" } });
  expect(renderToString(<ErrorBanner error={error} />)).toContain("<p></p>");
  const damaged = new ApiError(410, "content_damaged", "The stored prediction of job j1 is damaged.");
  expect(renderToString(<ErrorBanner error={damaged} />)).toContain("<p></p>");
});

const classNames = (element: ComponentChild): string =>
  /class="([^"]*)"/.exec(renderToString(<>{element}</>))![1];

test("a button has the classes of its style", () => {
  expect(classNames(<Button>Add</Button>)).toBe("btn");
  expect(classNames(<Button look="primary" small icon="plus" children="Add" />)).toBe(
    "btn btn-primary btn-small",
  );
  expect(classNames(<Button look="quiet" icon="x" aria-label="Close" />)).toBe("btn btn-quiet btn-icon");
  expect(renderToString(<Button busy>Add</Button>)).toContain('aria-busy="true" aria-disabled="true"');
});

test("omits pairs without a value", () => {
  const html = renderToString(
    <KeyValues
      of={[
        ["a", "1"],
        ["b", ""],
        ["c", null],
        ["d", undefined],
        ["e", false],
        ["f", 0],
      ]}
    />,
  );
  expect([...html.matchAll(/<dt>(\w)/g)].map(([, name]) => name)).toEqual(["a", "f"]);
});

test("a table shows its order, selection and first rows", () => {
  const rows = ["x", "y", "z"];
  const html = renderToString(
    <Table
      caption="Letters"
      rows={rows}
      rowKey={(row) => row}
      order="-name"
      onOrder={() => {}}
      selected="y"
      first={{ rows: 2, of: "letters" }}
      columns={[
        { name: "name", title: "Name", heading: true, sortable: true, cell: (row) => row },
        { name: "size", title: "Size", numeric: true, cell: () => 1 },
        { name: "note", title: "Note", phone: "hide", cell: () => "–" },
      ]}
    />,
  );
  expect(html).toContain('aria-sort="descending"');
  expect(html).toContain("Show all 3 letters");
  expect(html.match(/<tr[ >]/g)).toHaveLength(3);
  expect(html).toMatch(/<tr aria-selected="true"><th scope="row">y/);
  expect(html).toContain('<td class="num" data-label="Size">1</td>');
  expect(html).toContain('<td class="phone-hide">–</td>');
});

test("a form renders its fields by kind and marks optional ones", () => {
  const html = renderToString(
    <Form
      submit="Add"
      onCancel={() => {}}
      initial={{ name: "n", note: "", kind: "b", tags: ["t"], on: true, file: null }}
      onSubmit={async () => {}}
      fields={[
        { name: "name", label: "Name", literal: "mono", hint: "Short.", problem: "taken" },
        { name: "note", label: "Note", rows: 2, optional: true },
        { name: "kind", label: "Kind", kind: "select", choices: [{ value: "b", name: "B" }] },
        { name: "tags", label: "Tags", kind: "checklist", choices: [{ value: "t", name: "T", fixed: true }] },
        { name: "on", label: "On", kind: "checkbox" },
        { name: "file", label: "File", kind: "file", accept: ".txt" },
      ]}
    />,
  );
  expect(html).toMatch(/<input[^>]*required[^>]*class="input mono"[^>]*aria-invalid="true"/);
  expect(html).toContain("Taken</p>");
  expect(html).toMatch(/<label[^>]*>Note <small>optional<\/small>/);
  expect(html).toMatch(/<textarea(?![^>]*required)/);
  expect(html).toMatch(/<option selected value="b">B/);
  expect(html.match(/type="checkbox" checked/g)).toHaveLength(2);
  expect(html).toMatch(/type="checkbox" checked disabled/);
  expect(html).toMatch(/type="file" accept=".txt"/);
  expect(html).toMatch(/type="submit"[^>]*>Add<.*>Cancel</);
});

test.each<[string, ...string[]]>([
  ["/", "Home", "Home"],
  ["/score", "Score a protein", "Scoring"],
  ["/score/1", "Results", "Scoring", "Results"],
  ["/batch", "Score a protein", "Scoring"],
  ["/batch/1", "Results", "Scoring", "Results"],
  ["/changes", "Results", "Scoring", "Results"],
  ["/scan/1", "Scan a protein", "Scoring", "Scan a protein"],
  ["/scans", "Scan a protein", "Scoring", "Scan a protein"],
  ["/proteome/1", "Search a proteome", "Scoring", "Search a proteome"],
  ["/inventory/stocks-consumables/1", "Consumables", "Inventory", "Consumables"],
  ["/inventory/stocktake/1", "Stocktakes", "Inventory", "Stocktakes"],
  ["/inventory/places", "Storage", "Inventory", "Storage"],
  ["/inventory/scan", "Overview", "Scan code"],
  ["/administration/jobs", "Administration", "Administration"],
])("the navigation marks %s as %s, and on phones as %s", (path, ...names) => {
  const html = renderToString(
    <Shell path={path} search={new URLSearchParams()}>
      {""}
    </Shell>,
  );
  const current = [...html.matchAll(/<a[^>]*aria-current="true".*?<\/svg>(?:<span>)?([^<]+)/g)];
  expect(current.map(([, name]) => name)).toEqual(names);
});

test("the navigation of visitors does not lead to administration", () => {
  expect(
    renderToString(
      <Shell path="/" search={new URLSearchParams()}>
        {""}
      </Shell>,
    ),
  ).not.toContain("/administration");
});

test.each([
  ["label__natural", "ascending"],
  ["-label__natural", "descending"],
  ["-label", "descending"],
  ["other", undefined],
])("a table ordered by %s says that the column is %s", (order, sorted) => {
  const columns = [
    { name: "label", order: "label__natural", title: "Name", sortable: true, cell: () => "x" },
  ];
  const html = renderToString(
    <Table caption="Boxes" columns={columns} rows={[1]} rowKey={String} order={order} onOrder={() => {}} />,
  );
  expect(html.match(/aria-sort="(\w+)"/)?.[1]).toBe(sorted);
});

test("applying a stocktake keeps records that were not scanned unchanged by default", () => {
  const nothing = () => undefined;
  const items = (length: number) => Array.from({ length }, (_, i) => ({ id: String(i), name: "Tube" }));
  const dialog = (missing: number, misplaced: number) => {
    const count = { missing: items(missing), misplaced: items(misplaced) };
    const props = { id: "1", count: count as unknown as Count, onLater: undefined };
    return renderToString(<ApplyDialog {...props} onClose={nothing} onDone={nothing} />);
  };
  expect(dialog(2, 1)).toMatch(/<option selected value="keep">/);
  expect(dialog(2, 1)).toContain("1 misplaced record moves to where it was found.");
  expect(dialog(2, 1)).toContain("2 records that were not scanned stay unchanged.");
  expect(dialog(1, 2)).toContain("1 record that was not scanned stays unchanged.");
  expect(dialog(1, 2)).toContain("2 misplaced records move to where they were found.");
  expect(dialog(0, 0)).not.toContain("not scanned");
});
