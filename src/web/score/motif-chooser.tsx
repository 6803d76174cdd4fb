import { useId, useMemo, useState } from "preact/hooks";
import { ErrorBanner } from "../components/banner.tsx";
import { Checkbox, TextField } from "../components/field.tsx";
import { capitalized, pluralize } from "../format.tsx";
import { Icon } from "../components/icon.tsx";
import { useLoaded, pause } from "../components/loaded.tsx";
import { ApiError, call } from "../request.ts";
import { classTitle, type MotifClass } from "./class-link.tsx";
import { Button } from "../components/button.tsx";

const ROWS = 60;

type Fields = ApiError["fields"];

const searchText = ({ name, title, aliases, expression, description, citation }: MotifClass): string =>
  [name, title, ...aliases, expression, description, citation].join(" ").toLowerCase();

/** Chooses named motifs, found by any word of their name, expression or description. */
export function MotifChooser(props: {
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
  errors: readonly string[] | undefined;
}) {
  const { chosen, onChange, errors = [] } = props;
  const loaded = useLoaded("classes", (signal) => call("GET /api/scoring/motif-classes", { signal }));
  const classes = loaded.value?.results;
  const [search, setSearch] = useState("");
  const id = useId();
  const found = useMemo(() => {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean);
    return (classes ?? []).filter((motif) => words.every((word) => searchText(motif).includes(word)));
  }, [classes, search]);
  const isChosen = ({ name, aliases }: MotifClass): boolean =>
    chosen.some((each) => each === name || aliases.includes(each));
  const toggle = (motif: MotifClass): void => {
    const others = chosen.filter((name) => name !== motif.name && !motif.aliases.includes(name));
    onChange(others.length < chosen.length ? others : [...others, motif.name]);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "Enter") return;
    // Enter would submit the form.
    event.preventDefault();
    const name = search.trim().toLowerCase();
    const exact = found.find((motif) =>
      [motif.name, ...motif.aliases].some((each) => each.toLowerCase() === name),
    );
    const motif = name === "" ? undefined : (exact ?? found[0]);
    if (motif && !isChosen(motif)) toggle(motif);
  };
  return (
    <fieldset class="field">
      <legend>Named motifs</legend>
      <Chosen names={chosen} onRemove={(name) => onChange(chosen.filter((other) => other !== name))} />
      <label class="unseen" for={id}>
        Search motifs
      </label>
      <input
        id={id}
        class="input"
        type="search"
        placeholder="Name, partner or expression"
        autocomplete="off"
        value={search}
        onInput={(event) => setSearch(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      {loaded.error !== undefined && <ErrorBanner error={loaded.error} retry={loaded.reload} />}
      {classes && (
        <>
          <p class="hint" role="status">
            {found.length} of {classes.length} motifs
            {search.trim() !== "" && found.length > 0 && ". Enter chooses the first."}
          </p>
          <ul class="checklist" tabIndex={0} aria-label="Motifs">
            {found.slice(0, ROWS).map((motif) => (
              <li key={motif.name}>
                <Checkbox
                  label={
                    <>
                      <strong>{classTitle(motif)}</strong>{" "}
                      {motif.title !== "" && <small>{motif.name} </small>}
                      <code>{motif.expression}</code>{" "}
                      <small>
                        {motif.description}
                        {motif.model &&
                          ` Learned from ${pluralize(motif.model.instances, "known instance")}.`}
                      </small>
                    </>
                  }
                  checked={isChosen(motif)}
                  onChange={() => toggle(motif)}
                />
              </li>
            ))}
          </ul>
          {found.length > ROWS && <p class="hint">{found.length - ROWS} more. Search to find them.</p>}
        </>
      )}
      {errors.length > 0 && <p class="error">{capitalized(errors.join(" "))}</p>}
    </fieldset>
  );
}

const Chosen = ({ names, onRemove }: { names: readonly string[]; onRemove: (name: string) => void }) =>
  names.length === 0 ? null : (
    <ul class="row" aria-label="Chosen motifs">
      {names.map((name) => (
        <li key={name} class="chip">
          {name}
          <button type="button" aria-label={`Remove ${name}`} onClick={() => onRemove(name)}>
            <Icon name="x" />
          </button>
        </li>
      ))}
    </ul>
  );

/** Errors of motif classes, each with the name that it is about. */
export const classErrors = (fields: Fields, classes: readonly string[]): string[] => [
  ...(fields.motifClasses ?? []),
  ...classes.flatMap((name, i) => (fields[`motifClasses.${i}`] ?? []).map((text) => `${name}: ${text}`)),
];

/** Regular expressions, each checked and explained during typing. */
export function PatternList(props: {
  patterns: readonly string[];
  onChange: (patterns: string[]) => void;
  errors: readonly string[] | undefined;
  /** Errors of one of them. */
  findErrors: (pattern: string) => readonly string[] | undefined;
}) {
  const { patterns, onChange, errors = [] } = props;
  const shown = patterns.length === 0 ? [""] : patterns;
  const set = (i: number, value: string): void =>
    // Several pasted lines are several patterns.
    onChange(shown.toSpliced(i, 1, ...value.split(/\r?\n/)));
  return (
    <fieldset class="field">
      <legend>Patterns</legend>
      {shown.map((pattern, i) => (
        <PatternField
          key={i}
          label={`Pattern ${i + 1}`}
          value={pattern}
          errors={props.findErrors(pattern)?.map(capitalized)}
          onChange={(value) => set(i, value)}
          onRemove={shown.length > 1 ? () => onChange(shown.toSpliced(i, 1)) : undefined}
        />
      ))}
      <div>
        <Button look="quiet" small icon="plus" onClick={() => onChange([...shown, ""])}>
          Add a pattern
        </Button>
      </div>
      {errors.length > 0 && <p class="error">{capitalized(errors.join(" "))}</p>}
      <details class="hint">
        <summary>Pattern syntax</summary>
        <ul class="bullets">
          <li>
            <code>P</code> this residue, <code>.</code> any, <code>[ST]</code> one of these, <code>[^P]</code>{" "}
            none of these
          </li>
          <li>
            <code>.{"{0,2}"}</code> zero to two, <code>P?</code> optional, <code>(KR|RK)</code> either
          </li>
          <li>
            <code>^</code> start of the protein, <code>$</code> its end
          </li>
        </ul>
      </details>
    </fieldset>
  );
}

interface Check {
  explanation?: string;
  informationContent?: number;
  /** The expression that the author may have intended. */
  suggestions?: readonly string[];
  error?: string;
  /** Position of the invalid character, counted from 1. */
  position?: number | null;
}

/** Milliseconds after the last key. */
const PAUSE = 200;

/** The server's check of a pattern. */
function usePatternCheck(pattern: string): Check {
  const { value, busy } = useLoaded(pattern, async (signal): Promise<Check> => {
    if (pattern === "") return {};
    await pause(PAUSE, signal);
    try {
      return await call("POST /api/scoring/patterns", { body: { pattern }, signal });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const { position, suggestions } = error.body;
      return {
        error: error.fields.pattern?.join(" ") ?? error.message,
        position: typeof position === "number" ? position : null,
        suggestions: Array.isArray(suggestions) ? suggestions : [],
      };
    }
  });
  return (!busy && value) || {};
}

/** A regular expression, which the server checks and explains. */
export function PatternField(props: {
  label: string;
  value: string;
  onChange: (value: string) => void;
  onRemove?: (() => void) | undefined;
  errors?: readonly string[] | undefined;
}) {
  const text = props.value.trim();
  const { explanation, informationContent, suggestions, error, position } = usePatternCheck(text);
  return (
    <div class="pattern">
      <TextField
        label={props.label}
        code
        spellcheck={false}
        autocomplete="off"
        autocapitalize="none"
        placeholder="P..P or [RK].L.{0,1}[FYLIVMP]"
        value={props.value}
        onInput={props.onChange}
        errors={error === undefined ? props.errors : [error]}
      />
      {props.onRemove && (
        <Button
          look="quiet"
          icon="x"
          aria-label={`Remove ${props.label.toLowerCase()}`}
          onClick={props.onRemove}
        />
      )}
      <p class="hint" role="status">
        {position != null && (
          <code>
            {text.slice(0, position - 1)}
            <mark>{text[position - 1] ?? "␣"}</mark>
            {text.slice(position)}
          </code>
        )}
        {explanation !== undefined && `${explanation}. ${rarityText(informationContent ?? 0)}`}
      </p>
      <Suggestions of={suggestions} onChoose={props.onChange} />
    </div>
  );
}

/** Buttons that replace a pattern by one that its author may have meant. */
export const Suggestions = (props: {
  of: readonly string[] | undefined;
  onChoose: (pattern: string) => void;
}) =>
  props.of && props.of.length > 0 ? (
    <div class="row" role="group" aria-label="Did you mean">
      {props.of.map((pattern) => (
        <Button key={pattern} small onClick={() => props.onChoose(pattern)}>
          Use <code>{pattern}</code>
        </Button>
      ))}
    </div>
  ) : null;

/** The frequency of chance matches of a pattern with so many bits. */
export function rarityText(bits: number): string {
  if (bits >= 33) return `${bits.toFixed(1)} bits: matches by chance are very rare.`;
  const residues = 2 ** bits;
  const rounded = residues < 100 ? Math.round(residues) : Number(residues.toPrecision(2));
  const note = bits < 10 ? "; most matches are likely random" : "";
  return `${bits.toFixed(1)} bits: one match by chance in ${rounded.toLocaleString("en")} residues${note}.`;
}
