import type { ComponentChildren } from "preact";
import { useEffect, useId, useState } from "preact/hooks";
import { Field, type FieldProps } from "./field.tsx";
import { pause, useLoaded } from "./loaded.tsx";

/** Results for a text, and a remark below them. */
export interface Found<Option> {
  options: readonly Option[];
  note?: string | undefined;
  /** The options do not match the text: the note comes first, and Enter chooses none unless it is highlighted. */
  areNear?: boolean;
}

export interface ComboboxProps<Option> extends FieldProps {
  /** Text while nobody types. */
  shown: string;
  placeholder: string;
  search: (text: string, signal: AbortSignal) => Promise<Found<Option>>;
  optionKey: (option: Option) => string;
  onChoose: (option: Option) => void;
  /** The option that leaving the field chooses. */
  chooseOnLeave?: (typed: string, options: readonly Option[]) => Option | undefined;
  /** Opens only once something is typed, and then highlights the first option. */
  allowsTypedOnly?: boolean;
  /** The heading above the first of several options. */
  optionHeading?: (option: Option) => string | undefined;
  /** Content of an option. */
  children: (option: Option) => ComponentChildren;
}

/** Milliseconds after the last key. */
const PAUSE = 120;
const NONE: Found<never> = { options: [] };

/** Chooses an option by typing: a combobox with a list (WAI-ARIA 1.2). */
export function Combobox<Option>(props: ComboboxProps<Option>) {
  const { allowsTypedOnly = false } = props;
  const id = useId();
  const [text, setText] = useState<string | null>(null);
  const [isAsked, setAsked] = useState(false);
  const isOpen = isAsked && (!allowsTypedOnly || (text ?? "").trim() !== "");
  const found = useLoaded(isOpen ? (text ?? "") : null, async (signal) => {
    if (text !== null) await pause(PAUSE, signal);
    return props.search(text ?? "", signal);
  });
  const { options, areNear = false } = (found.error === undefined && found.value) || NONE;
  // A choice among earlier options does not count.
  const [highlight, setHighlight] = useState<{ options: readonly Option[]; index: number }>({
    options,
    index: -1,
  });
  const first = allowsTypedOnly && options.length > 0 && !areNear ? 0 : -1;
  const active = highlight.options === options ? highlight.index : first;
  const note = found.error instanceof Error ? found.error.message : describeState(found.value, found.busy);
  const close = (): void => {
    setText(null);
    setAsked(false);
  };
  const choose = (option: Option): void => {
    close();
    props.onChoose(option);
  };
  useEffect(() => {
    if (highlight.index >= 0)
      document.getElementById(`${id}-${highlight.index}`)?.scrollIntoView({ block: "nearest" });
  }, [highlight]);
  const [isWaiting, setWaiting] = useState(false);
  useEffect(() => {
    if (!isWaiting || found.busy) return;
    setWaiting(false);
    if (isOpen && active >= 0) choose(options[active]);
  }, [isWaiting, found.busy]);
  const onBlur = (): void => {
    const option = text === null ? undefined : props.chooseOnLeave?.(text.trim(), options);
    if (option === undefined) close();
    else choose(option);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      if (!isOpen) setAsked(true);
      else setHighlight({ options, index: nextIndex(active, step, options.length) });
    } else if (event.key === "Enter" && isOpen && (active >= 0 || allowsTypedOnly)) {
      // Options of an earlier text do not count: the choice waits for the options of this text.
      setWaiting(true);
    } else if (event.key === "Escape" && isOpen) {
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
              autocapitalize="none"
              spellcheck={false}
              aria-expanded={isOpen}
              aria-controls={`${id}-list`}
              aria-autocomplete="list"
              aria-activedescendant={isOpen && active >= 0 ? `${id}-${active}` : undefined}
              placeholder={props.placeholder}
              value={text ?? props.shown}
              onInput={(event) => {
                setWaiting(false);
                setText(event.currentTarget.value);
                setAsked(true);
              }}
              onClick={({ currentTarget }) => {
                // Typing then replaces the choice.
                if (text === null) currentTarget.select();
                setAsked(true);
              }}
              onBlur={onBlur}
              onKeyDown={onKeyDown}
            />
            <Options {...{ id, isOpen, options, active, note, areNear, choose }} of={props} />
          </>
        )}
      </Field>
    </div>
  );
}

function Options<Option>(props: {
  id: string;
  isOpen: boolean;
  options: readonly Option[];
  active: number;
  note: string | undefined;
  areNear: boolean;
  choose: (option: Option) => void;
  of: ComboboxProps<Option>;
}) {
  const { id, options, active, note, areNear, choose, of } = props;
  return (
    <ul id={`${id}-list`} role="listbox" aria-label={`Choices: ${of.label}`} hidden={!props.isOpen}>
      {areNear && <Note text={note} />}
      {options.map((option, i) => [
        <Heading
          key={`${of.optionKey(option)} heading`}
          of={options}
          index={i}
          optionHeading={of.optionHeading}
        />,
        <li
          key={of.optionKey(option)}
          id={`${id}-${i}`}
          role="option"
          aria-selected={i === active}
          // Runs before the input loses the focus.
          onMouseDown={(event) => {
            event.preventDefault();
            choose(option);
          }}
        >
          {of.children(option)}
        </li>,
      ])}
      {!areNear && <Note text={note} />}
    </ul>
  );
}

const Note = ({ text }: { text: string | undefined }) =>
  text === undefined ? null : (
    <li role="option" aria-disabled="true" aria-selected="false">
      <small>{text}</small>
    </li>
  );

/** A heading where another group of options begins. */
function Heading<Option>({
  of: options,
  index,
  optionHeading,
}: {
  of: readonly Option[];
  index: number;
  optionHeading: ((option: Option) => string | undefined) | undefined;
}) {
  const heading = optionHeading?.(options[index]);
  const isNew = heading !== undefined && (index === 0 || optionHeading?.(options[index - 1]) !== heading);
  return isNew ? (
    <li class="heading" role="presentation">
      {heading}
    </li>
  ) : null;
}

const describeState = (found: Found<unknown> | undefined, busy: boolean): string | undefined =>
  found && found.options.length > 0 ? found.note : busy ? "Searching…" : (found?.note ?? "No matches");

const nextIndex = (at: number, step: number, count: number): number =>
  count === 0 ? -1 : at < 0 && step < 0 ? count - 1 : (at + step + count) % count;
