import { href } from "../address.ts";
import { useLoaded } from "../components/loaded.tsx";
import { get } from "../request.ts";
import { api, type FieldInfo, pageOf } from "./declaration.ts";
import { asText, localTime, type Value } from "./record.tsx";

const known = new Map<string, Promise<string>>();

function nameOf(segment: string, key: string, id: string): Promise<string> {
  const at = `${segment}/${id}`;
  let name = known.get(at);
  if (!name) {
    name = get<{ results: Record<string, string> }>(api(segment, `${id}/`), {
      fields: `id,${key}`,
      response_format: "flat",
      deleted: "all",
    }).then(
      ({ results }) => results[key],
      () => `${id.slice(0, 8)}…`,
    );
    known.set(at, name);
  }
  return name;
}

/** A value as the history keeps it: of a reference the id alone, whose name is looked up. */
export function PlainValue({ value, field }: { value: Value | undefined; field: FieldInfo | undefined }) {
  const to = field?.reference?.printed === "id" ? field.reference : undefined;
  const id = to && value !== null && value !== undefined ? String(value) : null;
  const { value: name } = useLoaded(id, () => nameOf(to!.segment, to!.key, id!));
  if (to && id !== null) return <a href={href(pageOf(to.segment, id))}>{name ?? "…"}</a>;
  if (field?.kind === "instant" && typeof value === "string") return <>{localTime(value)}</>;
  return <>{asText(value)}</>;
}
