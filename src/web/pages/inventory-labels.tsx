import { useState } from "preact/hooks";
import { href } from "../address.ts";
import { api, pageOf, titleOf } from "../inventory/declaration.ts";
import { filtersOf } from "../inventory/list-address.ts";
import { useLoaded } from "../components/loaded.tsx";
import { definePage, useQuery } from "../page.tsx";
import { Button } from "../components/button.tsx";
import { SelectField, TextField } from "../components/field.tsx";
import { ErrorBanner } from "../components/banner.tsx";
import { get, send } from "../request.ts";

interface Sheets {
  results: { name: string; about: string; width: number; height: number; per_page: number }[];
  most: number;
  resolutions: number[];
}

/** Parameters of this page that are no filters. */
const OWN = new Set(["list", "sheet", "symbol", "printer", "skip", "dpi"]);

const many = (count: number, what: string): string =>
  `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;

function InventoryLabels() {
  const [query, setQuery] = useQuery();
  const segment = query.get("list") ?? "";
  const filters = new URLSearchParams([...query].filter(([name]) => !OWN.has(name)));
  const found = { ...filtersOf(filters), ordering: filters.get("ordering") ?? "" };
  const sheets = useLoaded("sheets", (signal) => get<Sheets>("/api/v2/labels/", {}, signal));
  const counted = useLoaded(segment === "" ? null : `${segment} ${filters}`, (signal) =>
    get<{ total: number }>(api(segment), { ...found, page_size: "1", fields: "id" }, signal),
  );
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const format = query.get("printer") === "zpl" ? "zpl" : "pdf";
  const usual = format === "zpl" ? "50x25" : "a4-3x8";
  const offered = (sheets.value?.results ?? []).filter((each) => format === "pdf" || each.per_page === 1);
  const chosen = offered.find(({ name }) => name === (query.get("sheet") ?? usual)) ?? offered[0];
  const set = (changes: Record<string, string | null>): void => setQuery(changes, { replace: true });
  const total = counted.value?.total ?? 0;
  const skip = chosen && chosen.per_page > 1 ? Number(query.get("skip") ?? 0) || 0 : 0;

  const make = async (): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      const response = await send("GET", api(segment, "labels/"), {
        query: {
          ...found,
          format,
          sheet: chosen.name,
          symbol: query.get("symbol") ?? "qr",
          ...(skip > 0 ? { skip } : {}),
          ...(format === "zpl" ? { dpi: query.get("dpi") ?? "203" } : {}),
        },
        headers: { Accept: "*/*" },
      });
      const link = document.createElement("a");
      link.href = URL.createObjectURL(await response.blob());
      link.download = `${segment.replaceAll("/", "-")}-labels.${format}`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    } catch (problem) {
      setError(problem);
    }
    setBusy(false);
  };

  return (
    <>
      <nav class="trail" aria-label="Path">
        <a href={href("/inventory")}>Inventory</a> ›{" "}
        {segment !== "" && <a href={href(pageOf(segment))}>{titleOf(segment)}</a>} › Labels
      </nav>
      <h1>Labels</h1>
      {Boolean(counted.error ?? sheets.error) && <ErrorBanner error={counted.error ?? sheets.error} />}
      {segment === "" && <p>Open a list, filter it or select records, and choose “Labels” under “More”.</p>}
      {segment !== "" && (
        <form
          class="narrow"
          onSubmit={(event) => {
            event.preventDefault();
            if (chosen) void make();
          }}
        >
          <p role="status">
            {counted.value && (
              <>
                {many(total, "label")}
                {chosen &&
                  chosen.per_page > 1 &&
                  `, on ${many(Math.ceil((total + skip) / chosen.per_page), "sheet")}`}
                .{" "}
                {total > (sheets.value?.most ?? total) &&
                  `At most ${sheets.value?.most.toLocaleString("en")} are made at once: filter further.`}
              </>
            )}
          </p>
          <SelectField
            label="Printer"
            value={format}
            choices={[
              { value: "pdf", name: "Any printer (PDF)" },
              { value: "zpl", name: "Label printer that speaks ZPL" },
            ]}
            onChange={(printer) =>
              set({ printer: printer === "pdf" ? null : printer, sheet: null, skip: null })
            }
          />
          <SelectField
            label="Labels"
            hint="Print at 100 %, without fitting to the page."
            value={chosen?.name ?? ""}
            choices={offered.map(({ name, about }) => ({ value: name, name: about }))}
            onChange={(sheet) => set({ sheet, skip: null })}
          />
          <SelectField
            label="Code"
            value={(query.get("symbol") ?? "qr") as "qr" | "code128"}
            choices={[
              { value: "qr", name: "QR code: telephones open the record" },
              { value: "code128", name: "Code 128: bars for simple scanners" },
            ]}
            onChange={(symbol) => set({ symbol: symbol === "qr" ? null : symbol })}
          />
          {chosen && chosen.per_page > 1 && (
            <TextField
              label="Labels of the first sheet that are gone"
              type="number"
              min={0}
              max={chosen.per_page - 1}
              value={query.get("skip") ?? "0"}
              onInput={(typed) => set({ skip: typed === "0" ? null : typed })}
            />
          )}
          {format === "zpl" && (
            <SelectField
              label="Dots per inch of the printer"
              value={query.get("dpi") ?? "203"}
              choices={(sheets.value?.resolutions ?? []).map((dpi) => ({
                value: String(dpi),
                name: String(dpi),
              }))}
              onChange={(dpi) => set({ dpi })}
            />
          )}
          {error !== null && <ErrorBanner error={error} focus />}
          <div class="actions">
            <Button type="submit" look="primary" busy={busy} disabled={total === 0}>
              Make the labels
            </Button>
          </div>
        </form>
      )}
    </>
  );
}

export const inventoryLabelsPage = definePage({
  name: "inventory-labels",
  paths: ["/inventory/labels"],
  title: "Labels",
  View: InventoryLabels,
});
