import type { Branch } from "../../inventory/api/route-relations.ts";
import type { Level, TreeNode as Node } from "../../inventory/records/location-tree.ts";
import { href } from "../address.ts";
import { useLoaded } from "../components/loaded.tsx";
import { call } from "../request.ts";
import { pagePath } from "./declaration.ts";

export type { Branch, Level, Node };

/** The records inside a place; with `below`, at any depth, too. @throws ApiError */
export const readBranch = (of: string, page: number, signal?: AbortSignal, below?: true): Promise<Branch> =>
  call("GET /api/v2/locations/tree/", { query: { of, page, page_size: 100, below }, signal });

/** The address of a place: the page of a box, or Storage for all others. */
export const treeAddress = ({ segment, id, grid_rows }: Omit<Node, "name">): string =>
  grid_rows ? href(pagePath(segment, id)) : href("/inventory/storage", { of: `${segment}/${id}` });

/** Breadcrumbs of a path, without its last node. */
export const makeCrumbs = (path: readonly Node[]): { name: string; href: string }[] => [
  { name: "Storage", href: href("/inventory/storage") },
  ...path.slice(0, -1).map((node) => ({ name: node.name, href: treeAddress(node) })),
];

/** Between the names of a path. */
const STEP = " › ";

/** A unique path such as `Shelf 2 › Rack A › Box 1`, which breaks between its names. */
export const PathLine = ({ path }: { path: string }) => (
  <>
    {path.split(STEP).map((name, i) => [i > 0 && STEP, <span key={i} class="path-step" children={name} />])}
  </>
);

/** The path to a location, from the outermost place, as nested links. */
export function LocationPath({ id, slot }: { id: string; slot: string }) {
  const of = `locations/${id}`;
  const { value } = useLoaded(of, (signal) => readBranch(of, 1, signal));
  return (
    <nav aria-label="Location">
      <ol class="path">
        {value?.path.map((node) => (
          <li key={node.id}>
            <a href={treeAddress(node)}>{node.name || "(no name)"}</a>
          </li>
        ))}
        {value && slot !== "" && (
          <li>
            <a href={href(pagePath("locations", id), { at: slot })}>
              <b>Slot {slot}</b>
            </a>
          </li>
        )}
      </ol>
    </nav>
  );
}
