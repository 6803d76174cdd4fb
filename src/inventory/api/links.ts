import { API_ROOT, findTarget } from "../model/resource.ts";
import { DECLARED, RESOURCES } from "../resources/index.ts";

/** Keys whose values are ids of batches. */
const BATCH_KEYS = new Set(["batch", "undoes", "undone_by"]);

/** Paths of the records that a JSON response at `path` names by id: by key and value, undefined for other values. */
export function makeLinkFinder(path: string): (key: string, value: string | number) => string | undefined {
  const resource = RESOURCES.find(({ segment }) => path.startsWith(`${API_ROOT}${segment}/`));
  return (key, value) => {
    if (value === "") return undefined;
    if (BATCH_KEYS.has(key)) return `${API_ROOT}batches/${value}/`;
    if (!resource) return undefined;
    if (key === "id") return `${API_ROOT}${resource.segment}/${value}/`;
    const field = Object.hasOwn(resource.fields, key) ? resource.fields[key] : undefined;
    const far = field?.kind === "reference" ? findTarget(DECLARED, field) : undefined;
    return far?.segment && far.shownAs === "id" ? `${API_ROOT}${far.segment}/${value}/` : undefined;
  };
}
