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

export const EMAIL = { expression: /^[^\s@]+@[^\s@]+$/, rule: "an e-mail address" };
/** Characters (RFC 5321, section 4.5.3.1.3). */
export const MAX_EMAIL = 254;
const MAX_NAME = 255;
const MAX_GROUP = 150;

/** @throws Problem invalid_request with an entry per field */
export function checkPerson(person: {
  username: string;
  fullName?: string;
  email?: string;
  group?: string;
}): void {
  checkUsername(person.username);
  const { fullName = "", email = "", group = "SYSTEM_GROUP" } = person;
  const fields: Record<string, string[]> = {};
  if (fullName.length > MAX_NAME || /\p{Cc}/u.test(fullName))
    fields.full_name = [`Expected at most ${MAX_NAME} printable characters.`];
  if (email !== "" && (email.length > MAX_EMAIL || !EMAIL.expression.test(email)))
    fields.email = [`Expected ${EMAIL.rule}.`];
  if (group.trim() === "" || group.length > MAX_GROUP || /[,\p{Cc}]/u.test(group))
    fields.group = [`Expected 1 to ${MAX_GROUP} printable characters without commas.`];
  const [first] = Object.entries(fields);
  if (first) throw new Problem("invalid_request", `${first[0]}: ${first[1].join(" ")}`, { fields });
}
