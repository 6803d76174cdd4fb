import { useEffect, useState } from "preact/hooks";
import type { LabelSheets } from "../../inventory/api/route-labels.ts";
import { href } from "../address.ts";
import { ErrorBanner } from "../components/banner.tsx";
import { Button } from "../components/button.tsx";
import { Empty } from "../components/empty.tsx";
import { Checkbox, Checklist, SelectField, TextField } from "../components/field.tsx";
import { FormError, useSubmission } from "../components/form.tsx";
import { Card, PageHead } from "../components/layout.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { pluralize, formatCount } from "../format.tsx";
import {
  columnTitle,
  type Declaration,
  declaration,
  findField,
  isSeldomUsed,
  isSetByPeople,
  isSuffix,
  makeCrumb,
} from "../inventory/declaration.ts";
import { parseFilters } from "../inventory/list-address.ts";
import { offeredColumns } from "../inventory/list-menus.tsx";
import { SaveView, useViews, type View } from "../inventory/list-views.tsx";
import { definePage, useQuery } from "../page.tsx";
import { call, callForResponse } from "../request.ts";
import { download } from "../download.ts";
import { useSession } from "../session.ts";
import { readStored, writeStored } from "../stored.ts";
import { countRecords } from "../inventory/read-list.ts";

/** Parameters of this page that are not filters. */
const OPTIONS = new Set(["list", "sheet", "symbol", "printer", "skip", "dpi", "lines"]);

function InventoryLabels() {
  const [query] = useQuery();
  const segment = query.get("list") ?? "";
  const list = segment ? makeCrumb(segment) : { name: "Inventory", href: href("/inventory") };
  return (
    <>
      <PageHead title="Labels" crumbs={[list]} />
      {segment === "" ? (
        <Empty title="No records chosen" icon="printer">
          <p>Open a list, filter it or select records, and choose “Labels” in the “More” menu.</p>
        </Empty>
      ) : (
        <LabelForm segment={segment} />
      )}
    </>
  );
}

type Layout = Partial<Record<"sheet" | "symbol" | "dpi" | "lines", string>>;

/** The printer used last on this device, and the layout last printed with each. */
type Saved = Partial<Record<"pdf" | "zpl", Layout>> & { printer?: string };

/** Printers without a saved layout. */
const PRINTERS = [
  { value: "pdf", name: "Any printer (PDF)" },
  { value: "zpl", name: "Label printer (ZPL)" },
];

/** Lines of a label unless others are chosen, as far as records have them. */
const USUAL_LINES = ["name", "model_type", "path", "barcode"];

/** Lines that labels of a list can have: the usual ones, then what its lists can show as columns. */
function offeredLines(of: Declaration | undefined): { value: string; name: string }[] {
  const titles = { name: "Name", path: "Path of the place", barcode: "Code" };
  // The path has the location and the position, an amount its unit.
  const isOwn = (name: string): boolean => {
    const field = findField(of!, name)!;
    if (name in titles || isSeldomUsed(field) || field.for_clients || field.places) return false;
    return isSetByPeople(of!, name) && !isSuffix(of!, name);
  };
  const own = of ? offeredColumns(of, []).filter(isOwn) : [];
  const fixed = Object.entries(titles).map(([value, name]) => ({ value, name }));
  return [...fixed, ...own.map((value) => ({ value, name: columnTitle(of!, value) }))];
}

/** The printer of the address, or the last one, and its layout: of the address, as saved, or last printed. */
function findLayout(query: URLSearchParams, saved: Saved, views: readonly View[]) {
  const chosen = query.get("printer") ?? saved.printer;
  const view = views.find(({ id }) => id === chosen);
  const own = view && Object.fromEntries(new URLSearchParams(view.query));
  const format = (own?.printer ?? chosen) === "zpl" ? "zpl" : "pdf";
  const sheet = format === "zpl" ? "50x25" : "a4-3x8";
  const usual = { sheet, symbol: "qr", dpi: "203", lines: USUAL_LINES.join() };
  const given = Object.fromEntries([...query].filter(([name]) => name in usual));
  const layout: Required<Layout> = { ...usual, ...(own ?? saved[format]), ...given };
  return { printer: view?.id ?? format, format, layout } as const;
}

/** The options of the labels in the address, or else those of the layout. */
function readOptions(
  query: URLSearchParams,
  { printer, format, layout }: ReturnType<typeof findLayout>,
  sheets: LabelSheets | undefined,
  offeredNames: readonly string[],
) {
  // Dots per inch.
  const resolutions = (sheets?.resolutions ?? []).map((dpi) => `${dpi}` as const);
  const offered = (sheets?.results ?? []).filter((each) => format === "pdf" || each.per_page === 1);
  const sheet = offered.find(({ name }) => name === layout.sheet) ?? offered[0];
  const perPage = sheet?.per_page ?? 1;
  return {
    printer,
    format,
    most: sheets?.most ?? Infinity,
    offered,
    sheet,
    perPage,
    skip: perPage > 1 ? Number(query.get("skip")) || 0 : 0,
    lines: layout.lines.split(",").filter((line) => offeredNames.includes(line)),
    symbol: layout.symbol === "code128" ? "code128" : "qr",
    resolutions,
    dpi: resolutions.find((each) => each === layout.dpi) ?? "203",
  } as const;
}

function describeSheets(total: number, { skip, perPage, most }: ReturnType<typeof readOptions>): string {
  const sheets = perPage > 1 ? ` on ${pluralize(Math.ceil((total + skip) / perPage), "sheet")}` : "";
  const limit =
    total > most ? `. At most ${formatCount(most)} can be printed at once: narrow the filter` : "";
  return pluralize(total, "label") + sheets + limit;
}

/** The records of the address, the sheets and printers, and what this device printed last. */
function useSources(segment: string) {
  const [query] = useQuery();
  const filters = new URLSearchParams([...query].filter(([name]) => !OPTIONS.has(name)));
  const found = { ...parseFilters(filters), ordering: filters.get("ordering") ?? "" };
  const [saved, setSaved] = useState<Saved>({});
  useEffect(() => setSaved(readStored<Saved>("labels", {})), []);
  return {
    found,
    saved,
    sheets: useLoaded("sheets", (signal) => call("GET /api/v2/labels/", { signal })),
    declared: useLoaded(segment, () => declaration(segment)),
    views: useViews({ kind: "labels" }),
    counted: useLoaded(`${segment} ${filters}`, (signal) => countRecords(segment, found, signal)),
  };
}

/** The layout that the address, the printer and this device name, and the request that prints it. */
function useLabels(segment: string) {
  const [query, setQuery] = useQuery();
  const { found, saved, sheets, declared, views, counted } = useSources(segment);
  const known = offeredLines(declared.value);
  const names = known.map(({ value }) => value);
  const options = readOptions(query, findLayout(query, saved, views.value ?? []), sheets.value, names);
  const { printer, format, sheet, symbol, skip, dpi } = options;
  const lines = options.lines.join();
  const isUsual = lines === USUAL_LINES.filter((line) => names.includes(line)).join();
  return {
    ...options,
    views,
    print: {
      ...found,
      format,
      sheet: sheet?.name,
      symbol,
      skip: skip || undefined,
      dpi: format === "zpl" ? dpi : undefined,
      fields: isUsual ? undefined : lines,
    },
    /** The layout as it is saved. */
    stored: { sheet: sheet?.name ?? "", symbol, dpi, lines },
    /** Remembers the printer, and without a saved layout the layout, on this device. */
    keep: (layout: Layout) =>
      writeStored("labels", { ...saved, printer, ...(printer === format ? { [format]: layout } : {}) }),
    total: counted.value,
    status: counted.value && sheet && describeSheets(counted.value, options),
    error: [counted, sheets, declared, views].map(({ error }) => error).find(Boolean),
    offeredLines: known.toSorted((a, b) => rank(options.lines, a.value) - rank(options.lines, b.value)),
    isReady: Boolean(counted.value && sheet && declared.value && views.value),
    set: (changes: Record<string, string | null>): void => setQuery(changes, { replace: true }),
  };
}

/** Changes of the address that leave the layout to the printer. */
const AS_SAVED = { sheet: null, symbol: null, dpi: null, skip: null, lines: null };

function LabelForm({ segment }: { segment: string }) {
  const session = useSession();
  const labels = useLabels(segment);
  const { print, format, stored, views, set } = labels;
  const [isSaving, setSaving] = useState(false);
  const printed = (more: { preview?: true } = {}, signal?: AbortSignal) =>
    callForResponse("GET /api/v2/:list/labels/", {
      params: { list: segment },
      query: { ...print, ...more },
      headers: { Accept: "*/*" },
      ...(signal ? { signal } : {}),
    });
  const form = useSubmission(async () => {
    const response = await printed();
    labels.keep(stored);
    download(`${segment.replaceAll("/", "-")}-labels.${format}`, await response.blob());
  });
  return (
    <div class="with-panel">
      <form class="form" onSubmit={form.submit}>
        {labels.error !== undefined && <ErrorBanner error={labels.error} />}
        <p role="status">{labels.status}</p>
        <LayoutFields of={labels} />
        <FormError of={form} shown={[]} focus />
        <div class="actions">
          <Button type="submit" look="primary" icon="printer" busy={form.busy} disabled={!labels.total}>
            Create labels
          </Button>
          {session && (
            <Button icon="bookmark-plus" onClick={() => setSaving(true)}>
              Save layout
            </Button>
          )}
        </div>
      </form>
      {labels.isReady && (
        <Preview key={JSON.stringify(print)} load={(signal) => printed({ preview: true }, signal)} />
      )}
      {isSaving && (
        <SaveView
          title="Save layout for a printer"
          view={{
            list: segment,
            kind: "labels",
            query: `${new URLSearchParams({ printer: format, ...stored })}`,
          }}
          views={views}
          onClose={() => setSaving(false)}
          onSaved={({ id }) => set({ ...AS_SAVED, printer: id })}
        />
      )}
    </div>
  );
}

function LayoutFields({ of }: { of: ReturnType<typeof useLabels> }) {
  const { printer, format, offered, sheet, perPage, skip, symbol, dpi, resolutions, set } = of;
  return (
    <>
      <SelectField
        label="Printer"
        value={printer}
        choices={[...(of.views.value ?? []).map(({ id, name }) => ({ value: id, name })), ...PRINTERS]}
        onChange={(printer) => set({ ...AS_SAVED, printer })}
      />
      <SelectField
        label="Labels"
        hint="Print at 100 %, without fitting to the page."
        value={sheet?.name ?? ""}
        choices={offered.map(({ name, about }) => ({ value: name, name: about }))}
        onChange={(name) => set({ sheet: name, skip: null })}
      />
      <SelectField
        label="Code"
        value={symbol}
        choices={[
          { value: "qr", name: "QR code: phones open the record" },
          { value: "code128", name: "Code 128: for simple barcode scanners" },
        ]}
        onChange={(symbol) => set({ symbol })}
      />
      <Checklist
        label="Lines, in the order in which they are chosen"
        value={of.lines}
        choices={of.offeredLines}
        onChange={(chosen) => set({ lines: chosen.join() || null })}
      />
      {perPage > 1 && (
        <TextField
          label="Labels already used on the first sheet"
          type="number"
          min={0}
          max={perPage - 1}
          value={String(skip)}
          onInput={(typed) => set({ skip: typed === "0" ? null : typed })}
        />
      )}
      {format === "zpl" && (
        <SelectField
          label="Resolution"
          value={dpi}
          choices={resolutions.map((value) => ({ value, name: `${value} dpi` }))}
          onChange={(dpi) => set({ dpi })}
        />
      )}
    </>
  );
}

/** Chosen lines first, in their order. */
const rank = (lines: readonly string[], name: string): number =>
  lines.includes(name) ? lines.indexOf(name) : lines.length;

/** The first page as it is printed, in its size. */
function Preview({ load }: { load: (signal: AbortSignal) => Promise<Response> }) {
  const [isFitted, setFitted] = useState(false);
  const page = useLoaded("preview", async (signal) => URL.createObjectURL(await (await load(signal)).blob()));
  useEffect(() => () => URL.revokeObjectURL(page.value ?? ""), [page.value]);
  return (
    <Card title="Preview" actions={<Checkbox label="Fit to width" checked={isFitted} onChange={setFitted} />}>
      <Loaded of={page}>
        {(address) => (
          <div class="label-preview" role="group" aria-label="First page" tabIndex={0}>
            <img
              src={address}
              class={isFitted ? "fitted" : undefined}
              alt="The first page as it is printed"
            />
          </div>
        )}
      </Loaded>
    </Card>
  );
}

export const inventoryLabelsPage = definePage({
  name: "inventory-labels",
  paths: ["/inventory/labels"],
  title: "Labels",
  View: InventoryLabels,
});
