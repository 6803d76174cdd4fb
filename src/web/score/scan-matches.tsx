import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { href, type Query } from "../address.ts";
import { LinkButton } from "../components/button.tsx";
import { Empty } from "../components/empty.tsx";
import { Card } from "../components/layout.tsx";
import { useQuery } from "../page.tsx";
import { inOrder } from "./order.ts";
import { downloadQuery, filtered, filterIn, type ScanMatch } from "./scan.ts";
import { ScanFilters } from "./scan-filters.tsx";
import { KEYS, type RowContext, ScanTable } from "./scan-table.tsx";

interface Props extends RowContext {
  matches: readonly ScanMatch[];
  /** Address of the scan, and the start of the names of downloaded files. */
  download: { path: string; query?: Query; name: string };
  foot?: ComponentChildren;
}

/** The matches of scans, with filters, sorting and downloads, which the page's address keeps. */
export function ScanMatches({ matches, download, foot, ...context }: Props) {
  const [query, setQuery] = useQuery();
  const filter = filterIn(query);
  const order = query.get("sort") ?? "";
  const shown = useMemo(
    () => inOrder(filtered(matches, filter), order, (match, name) => KEYS[name]?.(match)),
    [matches, query.toString()],
  );
  const downloads = (
    <div class="row" role="group" aria-label="Download">
      {["tsv", "gff3", "json"].map((format) => (
        <LinkButton
          key={format}
          small
          icon="download"
          href={href(download.path, { ...download.query, ...downloadQuery(filter, format) })}
          download={`${download.name}.${format}`}
        >
          {format.toUpperCase()}
        </LinkButton>
      ))}
    </div>
  );
  return (
    <div class="with-filters">
      <details open>
        <summary>Filters</summary>
        <ScanFilters {...{ matches, filter, setQuery }} />
      </details>
      <Card
        title="Matches"
        bare
        count={shown.length === matches.length ? matches.length : `${shown.length} of ${matches.length}`}
        actions={downloads}
        foot={foot}
      >
        {shown.length > 0 ? (
          <ScanTable
            {...context}
            rows={shown}
            order={order}
            onOrder={(sort) => setQuery({ sort }, { replace: true })}
          />
        ) : (
          <Empty title="No match passes the filters">
            <p>Remove a filter.</p>
          </Empty>
        )}
      </Card>
    </div>
  );
}
