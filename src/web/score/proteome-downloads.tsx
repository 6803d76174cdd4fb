import { href } from "../address.ts";
import { matchRows, workbookOf } from "../batch/spreadsheet.ts";
import { Button, LinkButton } from "../components/button.tsx";
import { showToast, withErrorToast } from "../components/toast.tsx";
import { send } from "../request.ts";
import { download } from "../download.ts";
import { filterQuery, motifOf, type Search, searchPath } from "./proteome.ts";

const FORMATS = [
  ["tsv", "tsv"],
  ["gff3", "gff3"],
  ["json", "jsonl"],
] as const;
const XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

/** Downloads of all matches that pass the filters. */
export function ProteomeDownloads({ search, query }: { search: Search; query: URLSearchParams }) {
  const path = `${searchPath(search.id)}/matches`;
  const name = `${motifOf(search)
    .replace(/[^\w.-]+/g, "_")
    .slice(0, 40)}-proteome`;
  const saveWorkbook = (): Promise<void> =>
    withErrorToast(async () => {
      const table = await (
        await send("GET", path, { query: { ...filterQuery(query), format: "tsv" } })
      ).text();
      const sheet = { name: "Matches", rows: matchRows([table]) };
      download(`${name}.xlsx`, new Blob([await workbookOf([sheet])], { type: XLSX }));
      showToast(`Saved ${name}.xlsx`);
    });
  return (
    <div class="row" role="group" aria-label="Download">
      {FORMATS.map(([format, extension]) => (
        <LinkButton
          key={format}
          small
          icon="download"
          href={href(path, { ...filterQuery(query), format })}
          download={`${name}.${extension}`}
        >
          {format.toUpperCase()}
        </LinkButton>
      ))}
      <Button small icon="download" onClick={() => void saveWorkbook()}>
        XLSX
      </Button>
    </div>
  );
}
