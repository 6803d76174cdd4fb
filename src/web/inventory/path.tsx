import { href } from "../address.ts";
import { useLoaded } from "../components/loaded.tsx";
import { get } from "../request.ts";

/** One thing of the tree of locations. */
export interface Node {
  segment: string;
  id: string;
  name: string;
}
export type TreeNode = Node & { inside: number; contents: number };

/** What lies in a thing, and the way to it. */
export interface Branch {
  path: Node[];
  contents: { segment: string; field: string; total: number }[];
  levels: { segment: string; total: number; results: TreeNode[] }[];
}

export const readBranch = (of: string, page: number, signal?: AbortSignal): Promise<Branch> =>
  get<Branch>("/api/v2/locations/tree/", { of, page, page_size: 100 }, signal);

export const treeAt = (node: Node): string => href("/inventory/tree", { of: `${node.segment}/${node.id}` });

/** The way to a thing, from the outermost. */
export function PathOf({ segment, id }: { segment: string; id: string }) {
  const of = `${segment}/${id}`;
  const { value } = useLoaded(of, (signal) => readBranch(of, 1, signal));
  return <Trail path={value?.path ?? []} />;
}

export function Trail({ path }: { path: readonly Node[] }) {
  return (
    <nav class="trail" aria-label="Where it is">
      <ol>
        <li>
          <a href={href("/inventory/tree")}>Everything</a>
        </li>
        {path.map((node, i) => (
          <li key={node.id}>
            <a href={treeAt(node)} aria-current={i === path.length - 1 ? "location" : undefined}>
              {node.name}
            </a>
          </li>
        ))}
      </ol>
    </nav>
  );
}
