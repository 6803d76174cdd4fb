import { useId, useMemo, useState } from "preact/hooks";
import type { MotifClass } from "../../scoring/index.ts";
import { ErrorBanner } from "../components/banner.tsx";
import { capital, Checkbox } from "../components/field.tsx";
import { Icon } from "../components/icon.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { get } from "../request.ts";

const ROWS = 60;

const textOf = ({ name, aliases, expression, description, citation }: MotifClass): string =>
  [name, ...aliases, expression, description, citation].join(" ").toLowerCase();

/** Chooses named motifs, found by any word of their name, expression or description. */
export function MotifChooser(props: {
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
  most: number;
  errors: readonly string[] | undefined;
}) {
  const { chosen, onChange, most, errors = [] } = props;
  const loaded = useLoaded("classes", (signal) =>
    get<{ results: MotifClass[] }>("/api/scoring/motif-classes", {}, signal),
  );
  const classes = loaded.value?.results;
  const [search, setSearch] = useState("");
  const id = useId();
  const found = useMemo(() => {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean);
    return (classes ?? []).filter((motif) => words.every((word) => textOf(motif).includes(word)));
  }, [classes, search]);
  const isChosen = ({ name, aliases }: MotifClass): boolean =>
    chosen.some((each) => each === name || aliases.includes(each));
  const toggle = (motif: MotifClass): void => {
    const others = chosen.filter((name) => name !== motif.name && !motif.aliases.includes(name));
    onChange(others.length < chosen.length ? others : [...others, motif.name]);
  };
  const isFull = chosen.length >= most;
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "Enter") return;
    // Enter would submit the form.
    event.preventDefault();
    if (found.length === 1 && (!isFull || isChosen(found[0]))) toggle(found[0]);
  };
  return (
    <fieldset class="field">
      <legend>Named motifs {most < Infinity && <small>up to {most}</small>}</legend>
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
            {isFull && `. ${most} are chosen; remove one to choose another`}
          </p>
          <ul class="checklist" tabIndex={0} aria-label="Motifs">
            {found.slice(0, ROWS).map((motif) => (
              <li key={motif.name}>
                <Checkbox
                  label={
                    <>
                      <strong>{motif.name}</strong> <code>{motif.expression}</code>{" "}
                      <small>{motif.description}</small>
                    </>
                  }
                  checked={isChosen(motif)}
                  disabled={isFull && !isChosen(motif)}
                  onChange={() => toggle(motif)}
                />
              </li>
            ))}
          </ul>
          {found.length > ROWS && <p class="hint">{found.length - ROWS} more. Search to find them.</p>}
        </>
      )}
      {errors.length > 0 && <p class="error">{capital(errors.join(" "))}</p>}
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
