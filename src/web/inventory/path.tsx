import type { Branch } from "../../inventory/api/route-relations.ts";
import type { Level, TreeNode as Node } from "../../inventory/records/location-tree.ts";
import { href } from "../address.ts";
import { useLoaded } from "../components/loaded.tsx";
import { call } from "../request.ts";

export type { Branch, Level, Node };

export const readBranch = (of: string, page: number, signal?: AbortSignal): Promise<Branch> =>
  call("GET /api/v2/locations/tree/", { query: { of, page, page_size: 100 }, signal });

export const treeAddress = ({ segment, id }: Pick<Node, "segment" | "id">): string =>
  href("/inventory/tree", { of: `${segment}/${id}` });

/** Breadcrumbs of a path, without its last node. */
export const makeCrumbs = (path: readonly Node[]): { name: string; href: string }[] => [
  { name: "Locations", href: href("/inventory/tree") },
  ...path.slice(0, -1).map((node) => ({ name: node.name, href: treeAddress(node) })),
];

/** The path to a location, from the outermost place, as nested links. */
export function LocationPath({ segment, id, slot = "" }: { segment: string; id: string; slot?: string }) {
  const of = `${segment}/${id}`;
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
            <b>Slot {slot}</b>
          </li>
        )}
      </ol>
    </nav>
  );
}
