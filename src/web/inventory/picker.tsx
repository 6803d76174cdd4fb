import { useEffect, useId, useRef, useState } from "preact/hooks";
import { get } from "../request.ts";
import { api, type Reference } from "./declaration.ts";

/** What can be chosen. */
export interface Choice {
  /** What a filter or a body takes. */
  value: string;
  name: string;
  /** What tells equal names apart. */
  context: string;
}

/** Fields that tell records of the same name apart. */
const CONTEXT: Readonly<Record<string, readonly string[]>> = {
  locations: ["parent__label", "equipment__name", "place__name"],
  equipment: ["place__name"],
  "vocabularies/terms": ["category__name"],
  "assays/assays": ["experiment__name"],
  users: ["full_name"],
};
const SHOWN = 20;
/** Milliseconds without a key before the server is asked. */
const PAUSE = 120;

/** Records whose name begins with what was typed, the one of just that name first; then others that have its words. */
async function search(to: Reference, typed: string, signal: AbortSignal): Promise<Choice[]> {
  const words = typed.trim();
  const [begin, others] = await Promise.all([
    read(to, words === "" ? {} : { name: words }, signal),
    words === "" ? [] : read(to, { query: words }, signal),
  ]);
  const known = new Set(begin.map(({ value }) => value));
  return [...begin, ...others.filter(({ value }) => !known.has(value))].slice(0, SHOWN);
}

async function read(
  to: Reference,
  filter: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Choice[]> {
  const context = CONTEXT[to.segment] ?? [];
  const fields = ["id", to.key, ...context].join(",");
  const query = { ...to.filter, ...filter, fields, response_format: "flat", page_size: SHOWN };
  const body = await get<{ results: Record<string, string | number | null>[] }>(
    api(to.segment),
    query,
    signal,
  );
  return body.results.map((record) => ({
    value: String(to.printed === "key" ? record[to.key] : record.id),
    name: String(record[to.key]),
    context: context
      .map((name) => record[name])
      .filter(Boolean)
      .join(" · "),
  }));
}

/** Chooses a record by typing a part of its name (a combobox with a list, WAI-ARIA 1.2). Empty: none. */
export function Picker(props: {
  to: Reference;
  label: string;
  hideLabel?: boolean;
  hint?: string;
  /** The value that is chosen, and its name where it is known. */
  value: string;
  name?: string | undefined;
  errors?: readonly string[] | undefined;
  optional?: boolean;
  autofocus?: boolean;
  onChoose: (value: string, name: string) => void;
  onKeyDown?: (event: KeyboardEvent) => void;
}) {
  const { to, value, errors = [] } = props;
  const id = useId();
  const box = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState<string | null>(null);
  const [found, setFound] = useState<Choice[]>([]);
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState(-1);
  const [name, setName] = useState(props.name ?? "");
  const [failed, setFailed] = useState("");
  useEffect(() => setName(props.name ?? (value === "" ? "" : value)), [value, props.name]);
  useEffect(() => {
    if (value === "" || props.name !== undefined || to.printed === "key") return;
    get<{ results: Record<string, string> }>(api(to.segment, `${value}/`), {
      fields: `id,${to.key}`,
      response_format: "flat",
    }).then(
      ({ results }) => setName(results[to.key]),
      () => {},
    );
  }, [value, props.name]);
  useEffect(() => {
    if (!open) return;
    const stop = new AbortController();
    const timer = setTimeout(
      () =>
        search(to, typed ?? "", stop.signal).then(
          (choices) => {
            setFound(choices);
            setAt(-1);
            setFailed("");
          },
          (error: Error) => !stop.signal.aborted && setFailed(error.message),
        ),
      typed === null ? 0 : PAUSE,
    );
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [typed, open]);
  useEffect(() => {
    if (props.autofocus) box.current?.focus();
  }, []);

  const choose = (choice: Choice): void => {
    setName(choice.name);
    setTyped(null);
    setOpen(false);
    props.onChoose(choice.value, choice.name);
  };
  const leave = (): void => {
    setOpen(false);
    if (typed === null) return;
    setTyped(null);
    const exact = found.find((choice) => choice.name.toLowerCase() === typed.trim().toLowerCase());
    if (typed.trim() === "") choose({ value: "", name: "", context: "" });
    else if (exact) choose(exact);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (!open) setOpen(true);
      else setAt((before) => step(before, event.key === "ArrowDown" ? 1 : -1, found.length));
    } else if (event.key === "Enter" && open && at >= 0) {
      event.preventDefault();
      choose(found[at]);
    } else if (event.key === "Escape" && open) {
      event.preventDefault();
      event.stopPropagation();
      setTyped(null);
      setOpen(false);
    } else props.onKeyDown?.(event);
  };
  const described = [props.hint && `${id}-hint`, errors.length > 0 && `${id}-error`]
    .filter(Boolean)
    .join(" ");
  return (
    <div class="field picker">
      <label for={id} class={props.hideLabel ? "unseen" : undefined}>
        {props.label} {props.optional && <small>optional</small>}
      </label>
      {props.hint && (
        <p class="hint" id={`${id}-hint`}>
          {props.hint}
        </p>
      )}
      <input
        ref={box}
        id={id}
        type="text"
        role="combobox"
        autocomplete="off"
        spellcheck={false}
        aria-expanded={open}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={open && at >= 0 ? `${id}-${at}` : undefined}
        aria-describedby={described || undefined}
        aria-invalid={errors.length > 0 ? "true" : undefined}
        placeholder="Type a part of the name"
        value={typed ?? name}
        onInput={(event) => {
          setTyped(event.currentTarget.value);
          setOpen(true);
        }}
        onClick={() => setOpen(true)}
        onBlur={leave}
        onKeyDown={onKeyDown}
      />
      {/* Named even while it is closed, for the box says that it controls it. */}
      <ul id={`${id}-list`} role="listbox" aria-label={`Choices: ${props.label}`} hidden={!open}>
        {found.map((choice, i) => (
          <li
            key={choice.value}
            id={`${id}-${i}`}
            role="option"
            aria-selected={i === at}
            // Before the box loses the focus.
            onMouseDown={(event) => {
              event.preventDefault();
              choose(choice);
            }}
          >
            {choice.name || "(without a name)"} {choice.context && <small>{choice.context}</small>}
          </li>
        ))}
        {found.length === 0 && (
          <li role="option" aria-disabled="true" aria-selected="false">
            <small>{failed || (typed ? "Nothing has this in its name." : "Nothing to choose from.")}</small>
          </li>
        )}
      </ul>
      {errors.length > 0 && (
        <p class="error" id={`${id}-error`}>
          {errors.join(" ")}
        </p>
      )}
    </div>
  );
}

const step = (at: number, by: number, count: number): number =>
  count === 0 ? -1 : (at + by + count + (at < 0 && by < 0 ? 1 : 0)) % count;
