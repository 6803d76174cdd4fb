import { useEffect, useState } from "preact/hooks";
import type { LabelSheets } from "../../inventory/api/route-labels.ts";
import { href } from "../address.ts";
import { ErrorBanner } from "../components/banner.tsx";
import { Button } from "../components/button.tsx";
import { Empty } from "../components/empty.tsx";
import { SelectField, TextField } from "../components/field.tsx";
import { FormError, useSubmission } from "../components/form.tsx";
import { PageHead } from "../components/layout.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { pluralize, formatCount } from "../format.tsx";
import { makeCrumb } from "../inventory/declaration.ts";
import { parseFilters } from "../inventory/list-address.ts";
import { definePage, useQuery } from "../page.tsx";
import { call, callForResponse } from "../request.ts";
import { download } from "../download.ts";
import { readStored, writeStored } from "../stored.ts";
import { countRecords } from "../inventory/read-list.ts";

/** Parameters of this page that are not filters. */
const OPTIONS = new Set(["list", "sheet", "symbol", "printer", "skip", "dpi"]);

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

type Layout = Partial<Record<"sheet" | "symbol" | "dpi", string>>;

/** The printer used last on this device, and the layout last printed with each. */
type Saved = Partial<Record<"pdf" | "zpl", Layout>> & { printer?: string };

/** Of label printers, in dots per inch. */
const listResolutions = (sheets: LabelSheets | undefined) =>
  (sheets?.resolutions ?? []).map((dpi) => `${dpi}` as const);

const readSymbol = (symbol: string | undefined): "qr" | "code128" =>
  symbol === "code128" ? "code128" : "qr";

/** The printer, and the text of an option of its layout. */
function readLayout(query: URLSearchParams, saved: Saved) {
  const format: "pdf" | "zpl" = (query.get("printer") ?? saved.printer) === "zpl" ? "zpl" : "pdf";
  return { format, option: (name: keyof Layout) => query.get(name) ?? saved[format]?.[name] };
}

/** The options of the labels in the address, or else those that were last printed with this printer. */
function readOptions(query: URLSearchParams, saved: Saved, sheets: LabelSheets | undefined) {
  const { format, option } = readLayout(query, saved);
  const resolutions = listResolutions(sheets);
  const offered = (sheets?.results ?? []).filter((each) => format === "pdf" || each.per_page === 1);
  const name = option("sheet") ?? (format === "zpl" ? "50x25" : "a4-3x8");
  const sheet = offered.find((each) => each.name === name) ?? offered[0];
  const perPage = sheet?.per_page ?? 1;
  const skip = perPage > 1 ? Number(query.get("skip")) || 0 : 0;
  return {
    most: sheets?.most ?? Infinity,
    format,
    offered,
    sheet,
    perPage,
    skip,
    symbol: readSymbol(option("symbol")),
    resolutions,
    dpi: resolutions.find((each) => each === option("dpi")) ?? "203",
  };
}

function describeSheets(total: number, skip: number, perPage: number, most: number): string {
  const sheets = perPage > 1 ? ` on ${pluralize(Math.ceil((total + skip) / perPage), "sheet")}` : "";
  const limit =
    total > most ? `. At most ${formatCount(most)} can be printed at once: narrow the filter` : "";
  return pluralize(total, "label") + sheets + limit;
}

function LabelForm({ segment }: { segment: string }) {
  const [query, setQuery] = useQuery();
  const filters = new URLSearchParams([...query].filter(([name]) => !OPTIONS.has(name)));
  const found = { ...parseFilters(filters), ordering: filters.get("ordering") ?? "" };
  const [saved, setSaved] = useState<Saved>({});
  useEffect(() => setSaved(readStored<Saved>("labels", {})), []);
  const sheets = useLoaded("sheets", (signal) => call("GET /api/v2/labels/", { signal }));
  const counted = useLoaded(`${segment} ${filters}`, (signal) => countRecords(segment, found, signal));
  const set = (changes: Record<string, string | null>): void => setQuery(changes, { replace: true });
  const { format, offered, sheet, perPage, skip, symbol, dpi, resolutions, most } = readOptions(
    query,
    saved,
    sheets.value,
  );
  const total = counted.value ?? 0;
  const form = useSubmission(async () => {
    const response = await callForResponse("GET /api/v2/:list/labels/", {
      params: { list: segment },
      query: {
        ...found,
        format,
        sheet: sheet.name,
        symbol,
        skip: skip || undefined,
        dpi: format === "zpl" ? dpi : undefined,
      },
      headers: { Accept: "*/*" },
    });
    writeStored("labels", { ...saved, printer: format, [format]: { sheet: sheet.name, symbol, dpi } });
    download(`${segment.replaceAll("/", "-")}-labels.${format}`, await response.blob());
  });
  const error = counted.error ?? sheets.error;
  return (
    <form class="form" onSubmit={form.submit}>
      {error !== undefined && <ErrorBanner error={error} />}
      <p role="status">{counted.value && sheet && describeSheets(total, skip, perPage, most)}</p>
      <SelectField
        label="Printer"
        value={format}
        choices={[
          { value: "pdf", name: "Any printer (PDF)" },
          { value: "zpl", name: "Label printer (ZPL)" },
        ]}
        onChange={(printer) => set({ printer, sheet: null, symbol: null, dpi: null, skip: null })}
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
      <FormError of={form} shown={[]} focus />
      <div class="actions">
        <Button type="submit" look="primary" icon="printer" busy={form.busy} disabled={total === 0}>
          Create labels
        </Button>
      </div>
    </form>
  );
}

export const inventoryLabelsPage = definePage({
  name: "inventory-labels",
  paths: ["/inventory/labels"],
  title: "Labels",
  View: InventoryLabels,
});
