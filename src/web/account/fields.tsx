import type { FormField } from "../components/form.tsx";

/** Fields of forms about people. `autocomplete` "off": the form is about somebody else than the browser's user. */

type For = "self" | "off";

export const usernameField = (account: For = "self") =>
  ({
    name: "username",
    label: "Username",
    literal: true,
    autocomplete: account === "off" ? "off" : "username",
  }) as const satisfies FormField<{ username: string }>;

export const personFields = (account: For = "self") =>
  [
    {
      name: "full_name",
      label: "Full name",
      optional: true,
      autocomplete: account === "off" ? "off" : "name",
    },
    {
      name: "email",
      label: "E-mail",
      type: "email",
      optional: true,
      autocomplete: account === "off" ? "off" : "email",
    },
  ] as const satisfies readonly FormField<{ full_name: string; email: string }>[];

/** Name and address as requests have them; an address that never was is left out. */
export const personBody = (
  { full_name, email }: { full_name: string; email: string },
  hadEmail = false,
): { full_name: string; email?: string } => ({ full_name, ...(email !== "" || hadEmail ? { email } : {}) });

export const currentPasswordField = {
  name: "current_password",
  label: "Current password",
  type: "password",
  autocomplete: "current-password",
} as const satisfies FormField<{ current_password: string }>;

export const passwordField = (label: string) =>
  ({
    name: "password",
    label,
    type: "password",
    autocomplete: "new-password",
    hint: "At least 8 characters.",
  }) as const satisfies FormField<{ password: string }>;

interface NewPassword {
  password: string;
  again: string;
}

/** A new password, twice. */
export const newPasswordFields =
  <Values extends NewPassword = NewPassword>(label: string) =>
  ({ password, again }: Values): FormField<NewPassword>[] => [
    passwordField(label),
    {
      ...passwordField("Repeat password"),
      name: "again",
      hint: undefined,
      problem: again !== "" && again !== password ? "The passwords differ." : undefined,
    },
  ];

/** A code of the second factor: from the app, one of the recovery codes, or either. */
export const codeField = (kind: "app" | "recovery" | "either") =>
  ({
    name: "code",
    label: kind === "recovery" ? "Recovery code" : "Code",
    hint: {
      app: "The six digits that the app shows now.",
      recovery: "One of the ten codes that you saved. Each works once.",
      either: "The six digits that the app shows now, or a recovery code.",
    }[kind],
    literal: "mono",
    autocomplete: kind === "recovery" ? "off" : "one-time-code",
    focus: true,
    ...(kind === "app" ? { inputMode: "numeric" } : {}),
  }) as const satisfies FormField<{ code: string }>;

/** The username as a hidden field, which password managers look for beside a password. */
export const KnownUsername = ({ value }: { value: string }) => (
  <input class="unseen" autocomplete="username" value={value} readOnly tabIndex={-1} aria-hidden />
);
