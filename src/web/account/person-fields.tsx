import { useState } from "preact/hooks";
import { TextField } from "../components/field.tsx";
import type { ApiError } from "../request.ts";

/** Who a person is besides the name that signs in. */
export interface Person {
  fullName: string;
  setFullName: (fullName: string) => void;
  email: string;
  setEmail: (email: string) => void;
  /** As requests have it; without an address that never was. */
  body: { full_name: string; email?: string };
}

export function usePerson(known: { readonly [field: string]: unknown } = {}): Person {
  const [fullName, setFullName] = useState(String(known.full_name ?? ""));
  const [email, setEmail] = useState(String(known.email ?? ""));
  const body = { full_name: fullName, ...(email === "" && !known.email ? {} : { email }) };
  return { fullName, setFullName, email, setEmail, body };
}

/** Full name and address; `ofAnother`: what the browser knows of its user is not offered. */
export function PersonFields(props: { of: Person; errors: ApiError["fields"]; ofAnother?: boolean }) {
  const { of: person, errors, ofAnother = false } = props;
  return (
    <>
      <TextField
        label="Full name"
        optional
        autocomplete={ofAnother ? "off" : "name"}
        value={person.fullName}
        onInput={person.setFullName}
        errors={errors.full_name}
      />
      <TextField
        label="E-mail"
        optional
        type="email"
        autocomplete={ofAnother ? "off" : "email"}
        value={person.email}
        onInput={person.setEmail}
        errors={errors.email}
      />
    </>
  );
}
