import { useLayoutEffect, useRef } from "preact/hooks";
import { TextField } from "../components/field.tsx";

/** Which codes are asked for: of the app, one of those that were kept for a lost phone, or either. */
const KINDS = {
  app: {
    label: "Code",
    hint: "Six digits, which the app on your phone shows now.",
    autocomplete: "one-time-code",
    inputMode: "numeric",
  },
  recovery: {
    label: "Recovery code",
    hint: "One of the ten that were shown when you set it up. Each is good once.",
    autocomplete: "off",
  },
  either: {
    label: "Code",
    hint: "Six digits, which the app on your phone shows now, or a recovery code.",
    autocomplete: "one-time-code",
  },
} as const;

/** The field for a code of the second factor. */
export function CodeField(props: {
  kind: keyof typeof KINDS;
  value: string;
  onInput: (code: string) => void;
  errors: readonly string[] | undefined;
  /** Takes the focus when it appears in the place of what had it. */
  focus?: boolean;
}) {
  const { kind, focus = false, ...rest } = props;
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (focus) box.current?.querySelector("input")?.focus();
  }, [focus, kind]);
  return (
    <div ref={box}>
      <TextField
        key={kind}
        {...KINDS[kind]}
        {...rest}
        name="code"
        autocapitalize="none"
        spellcheck={false}
        code
        required
      />
    </div>
  );
}
