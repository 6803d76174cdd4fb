import { Problem } from "../problem.ts";

const USERNAME = /^[\p{L}\p{N}_][\p{L}\p{N}_.@+-]{0,149}$/u;
const USERNAME_RULE = "1 to 150 letters, digits and @ . + - _, beginning with a letter, digit or _";

/** @throws Problem invalid_request */
export function checkUsername(username: string): void {
  if (USERNAME.test(username)) return;
  throw new Problem("invalid_request", `username: expected ${USERNAME_RULE}.`, {
    fields: { username: [`Expected ${USERNAME_RULE}.`] },
  });
}

/** Line breaks, and characters that show nothing or turn the text after them; ZWJ and ZWNJ are parts of names. */
const UNPRINTABLE = /[\p{Zl}\p{Zp}]|(?![\u200C\u200D])[\p{Cc}\p{Cf}\p{Cs}\p{Co}]/u;
const MAX_NAME = 255;
const MAX_GROUP = 150;
const nameRule = (min: 0 | 1, max: number, but = "") => ({
  expression: new RegExp(`^(?:(?!${UNPRINTABLE.source}${but && `|[${but}]`}).){${min},${max}}$`, "su"),
  rule: `${min === 0 ? "at most" : "1 to"} ${max} printable characters${but && " without commas"}`,
});

/** The full name of a person. */
export const FULL_NAME = nameRule(0, MAX_NAME);
/** The name of a group. */
export const GROUP_NAME = nameRule(1, MAX_GROUP, ",");

const ATOM = "[\\p{L}\\p{M}\\p{N}!#$%&'*+/=?^_`{|}~-]+";
const LABEL = "[\\p{L}\\p{N}](?:[\\p{L}\\p{M}\\p{N}-]{0,61}[\\p{L}\\p{M}\\p{N}])?";
/** Address of a person, without quotes and comments (RFC 5321, sections 4.1.2 and 4.5.3; RFC 6531). */
export const EMAIL = {
  expression: new RegExp(`^(?=.{1,254}$)${ATOM}(?:\\.${ATOM})*@${LABEL}(?:\\.${LABEL})*$`, "u"),
  rule: "an e-mail address",
};

/** The checks of people's texts, by the name that requests and flags have. */
const RULES = { full_name: FULL_NAME, email: EMAIL, group: GROUP_NAME } as const;

/**
 * Validates the data of a person from setup, requests and the command line.
 * @throws Problem invalid_request with an entry per field
 */
export function checkPerson(person: {
  username: string;
  fullName?: string;
  email?: string;
  group?: string;
}): void {
  checkUsername(person.username);
  const { fullName = "", email = "", group } = person;
  const values = {
    full_name: fullName,
    ...(email === "" ? {} : { email }),
    ...(group === undefined ? {} : { group }),
  };
  const fields: Record<string, string[]> = {};
  for (const [name, value] of Object.entries(values)) {
    const { expression, rule } = RULES[name as keyof typeof RULES];
    if (!expression.test(value) || (name === "group" && value.trim() === ""))
      fields[name] = [`Expected ${rule}.`];
  }
  const [first] = Object.entries(fields);
  if (first) throw new Problem("invalid_request", `${first[0]}: ${first[1].join(" ")}`, { fields });
}

/** A text of a directory or provider as one that passes the checks, cut to a length: nobody is locked out for a name. */
export const cleanText = (value: string, maxLength = MAX_NAME): string =>
  [
    ...value
      .normalize("NFC")
      .replace(new RegExp(`(?:${UNPRINTABLE.source})+`, "gu"), " ")
      .trim(),
  ]
    .slice(0, maxLength)
    .join("");

/** Makes an e-mail address from a text; empty if it is not valid. */
export const cleanEmail = (value: string): string => (EMAIL.expression.test(value) ? value : "");
