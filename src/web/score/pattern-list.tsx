import { useEffect, useState } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { capital, TextField } from "../components/field.tsx";
import { requestJson, ApiError } from "../request.ts";

/** Expressions of one's own, each checked and put into words while it is typed. */
export function PatternList(props: {
  patterns: readonly string[];
  onChange: (patterns: string[]) => void;
  most?: number;
  errors?: readonly string[] | undefined;
}) {
  const { patterns, onChange, most = Infinity, errors = [] } = props;
  const shown = patterns.length === 0 ? [""] : patterns;
  const set = (i: number, value: string): void =>
    // Several lines that are pasted are several patterns.
    onChange(shown.toSpliced(i, 1, ...value.split(/\r?\n/)).slice(0, Math.max(most, shown.length)));
  return (
    <fieldset>
      <legend>Patterns of your own {most < Infinity && <small>up to {most}</small>}</legend>
      {shown.map((pattern, i) => (
        <Pattern
          key={i}
          number={i + 1}
          value={pattern}
          onChange={(value) => set(i, value)}
          onRemove={shown.length > 1 ? () => onChange(shown.toSpliced(i, 1)) : undefined}
        />
      ))}
      {shown.length < most && (
        <Button look="quiet" onClick={() => onChange([...shown, ""])}>
          Add a pattern
        </Button>
      )}
      {errors.length > 0 && <p class="error">{capital(errors.join(" "))}</p>}
      <details class="hint">
        <summary>How patterns are written</summary>
        <ul>
          <li>
            <code>P</code> that residue · <code>.</code> any · <code>[ST]</code> one of these ·{" "}
            <code>[^P]</code> any but these
          </li>
          <li>
            <code>.{"{0,2}"}</code> none to two · <code>P?</code> perhaps · <code>(KR|RK)</code> either
          </li>
          <li>
            <code>^</code> the protein's beginning · <code>$</code> its end
          </li>
        </ul>
      </details>
    </fieldset>
  );
}

interface Report {
  explanation: string;
  informationContent: number;
}

/** Milliseconds after the last key. */
const PATIENCE = 200;

function Pattern(props: {
  number: number;
  value: string;
  onChange: (value: string) => void;
  onRemove: (() => void) | undefined;
}) {
  const { value } = props;
  const [report, setReport] = useState<Report | null>(null);
  const [wrong, setWrong] = useState<{ text: string; position: number | null } | null>(null);
  useEffect(() => {
    const pattern = value.trim();
    setWrong(null);
    setReport(null);
    if (pattern === "") return;
    const stop = new AbortController();
    const check = async (): Promise<void> => {
      try {
        setReport(
          await requestJson<Report>("POST", "/api/scoring/patterns", {
            body: { pattern },
            signal: stop.signal,
          }),
        );
      } catch (error) {
        if (!(error instanceof ApiError)) return;
        const { position } = error.body;
        setWrong({
          text: error.fields.pattern?.join(" ") ?? error.message,
          position: typeof position === "number" ? position : null,
        });
      }
    };
    const timer = setTimeout(() => void check(), PATIENCE);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [value]);
  const at = wrong?.position ?? null;
  return (
    <div class="pattern">
      <TextField
        label={`Pattern ${props.number}`}
        code
        spellcheck={false}
        autocomplete="off"
        autocapitalize="none"
        placeholder="P..P or [RK].L.{0,1}[FYLIVMP]"
        value={value}
        onInput={props.onChange}
        errors={wrong ? [wrong.text] : undefined}
      />
      {props.onRemove && (
        <Button look="quiet" aria-label={`Remove pattern ${props.number}`} onClick={props.onRemove}>
          ×
        </Button>
      )}
      <p class="meaning" role="status">
        {at !== null && (
          <code>
            {value.trim().slice(0, at - 1)}
            <mark>{value.trim()[at - 1] ?? "␣"}</mark>
            {value.trim().slice(at)}
          </code>
        )}
        {report && (
          <>
            {report.explanation}. <span class="muted">{rarity(report.informationContent)}</span>
          </>
        )}
      </p>
    </div>
  );
}

/** How often a pattern of so many bits matches by chance. */
export function rarity(bits: number): string {
  if (bits >= 33) return `${bits.toFixed(1)} bits: hardly ever by chance.`;
  const residues = 2 ** bits;
  const shown = residues < 100 ? Math.round(residues) : Number(residues.toPrecision(2));
  const often = bits < 10 ? "; many of its matches will mean nothing" : "";
  return `${bits.toFixed(1)} bits: by chance once in ${shown.toLocaleString("en")} residues${often}.`;
}
