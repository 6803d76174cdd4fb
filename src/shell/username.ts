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
