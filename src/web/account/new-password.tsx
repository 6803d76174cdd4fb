import { useState } from "preact/hooks";
import { TextField } from "../components/field.tsx";

/** A password that somebody is choosing. */
export interface Chosen {
  password: string;
  setPassword: (password: string) => void;
  again: string;
  setAgain: (again: string) => void;
  /** Whether it was typed twice alike. */
  isTwice: boolean;
}

export function useNewPassword(): Chosen {
  const [password, setPassword] = useState("");
  const [again, setAgain] = useState("");
  return { password, setPassword, again, setAgain, isTwice: again === password };
}

/** The field for a new password; `twice`: and one for the same again, where nobody else could set another. */
export function NewPassword(props: {
  chosen: Chosen;
  label: string;
  errors: readonly string[] | undefined;
  twice?: boolean;
  optional?: boolean;
  hint?: string;
}) {
  const { chosen, label, errors, twice = false, optional = false } = props;
  const { hint = "At least 8 characters; a sentence is easy to remember." } = props;
  const differ = chosen.again !== "" && !chosen.isTwice;
  return (
    <>
      <TextField
        label={label}
        hint={hint}
        name="password"
        type="password"
        autocomplete="new-password"
        required={!optional}
        optional={optional}
        value={chosen.password}
        onInput={chosen.setPassword}
        errors={errors}
      />
      {twice && (
        <TextField
          label="The same again"
          type="password"
          autocomplete="new-password"
          required
          value={chosen.again}
          onInput={chosen.setAgain}
          errors={differ ? ["This is not the same as above."] : undefined}
        />
      )}
    </>
  );
}
