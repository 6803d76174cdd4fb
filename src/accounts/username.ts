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

/** Addresses for mail, as far as a form of them can tell. */
export const EMAIL = { expression: /^[^\s@]+@[^\s@]+$/, rule: "an address for mail" };
/** Characters of an address (RFC 5321, section 4.5.3.1.3). */
export const LONGEST_EMAIL = 254;
/** Characters of a name. */
const LONGEST = 255;
const LONGEST_GROUP = 150;

/** What is told of somebody besides. @throws Problem invalid_request with an entry per field */
export function checkPerson(person: {
  username: string;
  fullName?: string;
  email?: string;
  group?: string;
}): void {
  checkUsername(person.username);
  const { fullName = "", email = "", group = "SYSTEM_GROUP" } = person;
  const fields: Record<string, string[]> = {};
  if (fullName.length > LONGEST || /\p{Cc}/u.test(fullName))
    fields.full_name = [`Expected at most ${LONGEST} printable characters.`];
  if (email !== "" && (email.length > LONGEST_EMAIL || !EMAIL.expression.test(email)))
    fields.email = [`Expected ${EMAIL.rule}.`];
  if (group.trim() === "" || group.length > LONGEST_GROUP || /[,\p{Cc}]/u.test(group))
    fields.group = [`Expected 1 to ${LONGEST_GROUP} printable characters without commas.`];
  const [first] = Object.entries(fields);
  if (first) throw new Problem("invalid_request", `${first[0]}: ${first[1].join(" ")}`, { fields });
}
