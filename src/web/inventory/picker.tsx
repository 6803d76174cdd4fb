import { useEffect, useState } from "preact/hooks";
import { Combobox } from "../components/combobox.tsx";
import type { FieldProps } from "../components/field.tsx";
import { get } from "../request.ts";
import { api, type Reference } from "./declaration.ts";
import { readName } from "./record.tsx";

interface Option {
  /** What requests contain. */
  value: string;
  name: string;
  /** Distinguishes equal names. */
  context: string;
}

/** Fields that distinguish records of the same name. */
const CONTEXT: Readonly<Record<string, readonly string[]>> = {
  locations: ["parent__label", "equipment__name", "place__name"],
  equipment: ["place__name"],
  "vocabularies/terms": ["category__name"],
  "assays/assays": ["experiment__name"],
  users: ["full_name"],
};
const MOST = 20;

/** Records whose name starts with the text, then others that contain its words. */
async function search(to: Reference, text: string, signal: AbortSignal): Promise<Option[]> {
  const words = text.trim();
  if (words === "") return read(to, {}, signal);
  const [first, others] = await Promise.all([
    read(to, { name: words }, signal),
    read(to, { query: words }, signal),
  ]);
  const known = new Set(first.map(({ value }) => value));
  return [...first, ...others.filter(({ value }) => !known.has(value))].slice(0, MOST);
}

async function read(to: Reference, filter: Record<string, string>, signal: AbortSignal): Promise<Option[]> {
  const context = CONTEXT[to.segment] ?? [];
  const fields = ["id", to.key, ...context].join(",");
  const query = { ...to.filter, ...filter, fields, response_format: "flat", page_size: MOST };
  const { results } = await get<{ results: Record<string, string | null>[] }>(api(to.segment), query, signal);
  return results.map((record) => ({
    value: String(to.printed === "key" ? record[to.key] : record.id),
    name: String(record[to.key]),
    context: context.flatMap((name) => record[name] || []).join(", "),
  }));
}

interface PickerProps extends FieldProps {
  to: Reference;
  value: string;
  /** Name of the value, if known. */
  name?: string | undefined;
  onChoose: (value: string, name: string) => void;
}

/** Chooses a record by part of its name. */
export function Picker({ to, value, name: known, onChoose, ...field }: PickerProps) {
  const [name, setName] = useState("");
  useEffect(() => {
    setName(known ?? value);
    if (value !== "" && known === undefined && to.printed === "id") void readName(to, value).then(setName);
  }, [value, known]);
  return (
    <Combobox<Option>
      {...field}
      shown={name}
      placeholder="Type part of the name"
      search={async (text, signal) => ({ options: await search(to, text, signal) })}
      keyOf={(option) => option.value}
      optionOnLeave={(typed, options) =>
        typed === ""
          ? { value: "", name: "", context: "" }
          : options.find((option) => option.name.toLowerCase() === typed.toLowerCase())
      }
      onChoose={(option) => {
        setName(option.name);
        onChoose(option.value, option.name);
      }}
    >
      {(option) => (
        <>
          {option.name || "(no name)"} <small>{option.context}</small>
        </>
      )}
    </Combobox>
  );
}
