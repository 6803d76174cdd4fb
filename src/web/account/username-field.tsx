import { TextField } from "../components/field.tsx";

/** The field for the name that somebody signs in with. */
export function UsernameField(props: {
  label: string;
  hint?: string;
  value: string;
  onInput: (username: string) => void;
  errors: readonly string[] | undefined;
  /** The name of somebody else: what the browser knows is not offered. */
  ofAnother?: boolean;
}) {
  const { ofAnother = false, ...rest } = props;
  return (
    <TextField
      {...rest}
      {...(ofAnother ? { autocomplete: "off" } : { name: "username", autocomplete: "username" })}
      autocapitalize="none"
      spellcheck={false}
      required
    />
  );
}

/** The name of who is known already: password managers look for it beside the password. */
export function KnownUsername({ value }: { value: string }) {
  return <input class="unseen" autocomplete="username" value={value} readOnly tabIndex={-1} aria-hidden />;
}
