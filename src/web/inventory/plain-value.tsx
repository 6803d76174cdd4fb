import { href } from "../address.ts";
import { useLoaded } from "../components/loaded.tsx";
import { type FieldInfo, pageOf } from "./declaration.ts";
import { asText, readName, type RecordValue } from "./record.tsx";

/** A value as the history stores it: of a reference only the id, whose name is looked up. */
export function PlainValue(props: { value: RecordValue | undefined; field: FieldInfo | undefined }) {
  const { value, field } = props;
  const to = field?.reference?.printed === "id" ? field.reference : undefined;
  const id = to && value !== null && value !== undefined ? String(value) : null;
  const { value: name } = useLoaded(id, () => readName(to!, id!));
  if (to && id !== null) return <a href={href(pageOf(to.segment, id))}>{name ?? "…"}</a>;
  return <>{asText(value, field)}</>;
}
