import { useEffect, useId, useState } from "preact/hooks";
import { Field, type FieldProps } from "../components/field.tsx";
import { pause, useLoaded } from "../components/loaded.tsx";
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
const NONE: readonly Option[] = [];
/** Milliseconds after the last key. */
const PAUSE = 120;

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

/** Chooses a record by part of its name: a combobox with a list (WAI-ARIA 1.2). */
export function Picker(props: PickerProps) {
  const { to, value, label } = props;
  const id = useId();
  const [text, setText] = useState<string | null>(null);
  const [isOpen, setOpen] = useState(false);
  const [name, setName] = useState("");
  const found = useLoaded(isOpen ? (text ?? "") : null, async (signal) => {
    if (text !== null) await pause(PAUSE, signal);
    return search(to, text ?? "", signal);
  });
  const options = found.error === undefined ? (found.value ?? NONE) : NONE;
  // A choice among earlier options does not count.
  const [highlight, setHighlight] = useState({ options, index: -1 });
  const active = highlight.options === options ? highlight.index : -1;
  useEffect(() => {
    setName(props.name ?? value);
    if (value !== "" && props.name === undefined && to.printed === "id")
      void readName(to, value).then(setName);
  }, [value, props.name]);

  const close = (): void => {
    setText(null);
    setOpen(false);
  };
  const choose = (option: Option): void => {
    setName(option.name);
    close();
    props.onChoose(option.value, option.name);
  };
  const onBlur = (): void => {
    const typed = text?.trim().toLowerCase();
    const exact = options.find((option) => option.name.toLowerCase() === typed);
    if (typed === "") choose({ value: "", name: "", context: "" });
    else if (typed !== undefined && exact) choose(exact);
    else close();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      if (!isOpen) setOpen(true);
      else setHighlight({ options, index: nextIndex(active, step, options.length) });
    } else if (event.key === "Enter" && isOpen && active >= 0) choose(options[active]);
    else if (event.key === "Escape" && isOpen) {
      event.stopPropagation();
      close();
    } else return;
    event.preventDefault();
  };
  return (
    <div class="picker">
      <Field {...props}>
        {(attributes) => (
          <>
            <input
              {...attributes}
              class="input"
              type="text"
              role="combobox"
              autocomplete="off"
              spellcheck={false}
              aria-expanded={isOpen}
              aria-controls={`${id}-list`}
              aria-autocomplete="list"
              aria-activedescendant={isOpen && active >= 0 ? `${id}-${active}` : undefined}
              placeholder="Type part of the name"
              value={text ?? name}
              onInput={(event) => {
                setText(event.currentTarget.value);
                setOpen(true);
              }}
              onClick={() => setOpen(true)}
              onBlur={onBlur}
              onKeyDown={onKeyDown}
            />
            <ul id={`${id}-list`} role="listbox" aria-label={`Choices: ${label}`} hidden={!isOpen}>
              {options.map((option, i) => (
                <li
                  key={option.value}
                  id={`${id}-${i}`}
                  role="option"
                  aria-selected={i === active}
                  // Before the input loses the focus.
                  onMouseDown={(event) => {
                    event.preventDefault();
                    choose(option);
                  }}
                >
                  {option.name || "(no name)"} <small>{option.context}</small>
                </li>
              ))}
              {options.length === 0 && (
                <li role="option" aria-disabled="true" aria-selected="false">
                  <small>{found.error instanceof Error ? found.error.message : "No matches"}</small>
                </li>
              )}
            </ul>
          </>
        )}
      </Field>
    </div>
  );
}

const nextIndex = (at: number, step: number, count: number): number =>
  count === 0 ? -1 : at < 0 && step < 0 ? count - 1 : (at + step + count) % count;
