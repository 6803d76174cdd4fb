import { useEffect, useId, useMemo, useState } from "preact/hooks";
import { capital } from "../components/field.tsx";
import { ErrorBanner } from "../components/banner.tsx";
import { get } from "../request.ts";

export interface MotifClass {
  name: string;
  aliases: string[];
  expression: string;
  explanation: string;
  informationContent: number;
  description: string;
  citation: string;
}

/** Rows that are shown at a time: more are found by searching. */
const SHOWN = 60;

/** Named motifs to tick, found by any word of name, meaning or expression. `most`: as many as may be chosen. */
export function MotifChooser(props: {
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
  most?: number;
  errors?: readonly string[] | undefined;
}) {
  const { chosen, onChange, most = Infinity, errors = [] } = props;
  const [classes, setClasses] = useState<MotifClass[] | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const [search, setSearch] = useState("");
  const id = useId();
  const load = (): void => {
    get<{ results: MotifClass[] }>("/api/scoring/motif-classes").then(
      ({ results }) => {
        setClasses(results);
        setFailure(null);
      },
      (error: unknown) => setFailure(error),
    );
  };
  useEffect(load, []);
  const found = useMemo(() => {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean);
    return (classes ?? []).filter((one) => {
      const text =
        `${one.name} ${one.aliases.join(" ")} ${one.expression} ${one.description} ${one.citation}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
  }, [classes, search]);
  const isChosen = ({ name, aliases }: MotifClass): boolean =>
    chosen.some((one) => one === name || aliases.includes(one));
  const toggle = (one: MotifClass): void => {
    const others = chosen.filter((name) => name !== one.name && !one.aliases.includes(name));
    onChange(others.length < chosen.length ? others : [...others, one.name]);
  };
  const full = chosen.length >= most;
  return (
    <fieldset class="chooser">
      <legend>Named motifs {most < Infinity && <small>up to {most}</small>}</legend>
      {chosen.length > 0 && (
        <ul class="chips" aria-label="Chosen motifs">
          {chosen.map((name) => (
            <li key={name}>
              <button
                type="button"
                aria-label={`Remove ${name}`}
                onClick={() => onChange(chosen.filter((other) => other !== name))}
              >
                {name} <span aria-hidden="true">×</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      <label class="unseen" for={id}>
        Search motifs
      </label>
      <input
        id={id}
        type="search"
        placeholder="Search by name, partner or expression"
        autocomplete="off"
        value={search}
        onInput={(event) => setSearch(event.currentTarget.value)}
        onKeyDown={(event) => {
          // Enter would send the form.
          if (event.key === "Enter") {
            event.preventDefault();
            if (found.length === 1 && (!full || isChosen(found[0]))) toggle(found[0]);
          }
        }}
      />
      {failure !== null && <ErrorBanner error={failure} retry={load} />}
      {classes !== null && (
        <>
          <p class="hint" role="status">
            {found.length} of {classes.length} motifs
            {full && ` · ${most} are chosen; remove one to choose another`}
          </p>
          <ul class="motifs" tabIndex={0} aria-label="Motifs">
            {found.slice(0, SHOWN).map((one) => (
              <li key={one.name}>
                <label class="checkbox">
                  <input
                    type="checkbox"
                    checked={isChosen(one)}
                    disabled={full && !isChosen(one)}
                    onChange={() => toggle(one)}
                  />
                  <span>
                    <strong>{one.name}</strong> <code>{one.expression}</code>
                    <small>{one.description}</small>
                  </span>
                </label>
              </li>
            ))}
          </ul>
          {found.length > SHOWN && <p class="hint">And {found.length - SHOWN} more: search to see them.</p>}
        </>
      )}
      {errors.length > 0 && <p class="error">{capital(errors.join(" "))}</p>}
    </fieldset>
  );
}
