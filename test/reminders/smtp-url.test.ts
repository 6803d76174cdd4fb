import { expect, test } from "bun:test";
import { parseSmtpUrl } from "../../src/reminders/index.ts";

test("a mail server on another machine must support encryption", async () => {
  expect(parseSmtpUrl("smtp://mail.example?from=a@b.c")).toMatchObject({
    port: 587,
    protection: "starttls",
  });
  expect(parseSmtpUrl("smtp://127.0.0.1?from=a@b.c").protection).toBe("none");
  expect(parseSmtpUrl("smtp://127.0.0.1?from=a@b.c&tls=required").protection).toBe("starttls");
  expect(parseSmtpUrl("smtp://mail.example:25?from=a@b.c&tls=off").protection).toBe("none");
  expect(parseSmtpUrl("smtps://u:p%40w@[::1]?from=a@b.c")).toMatchObject({
    host: "::1",
    port: 465,
    password: "p@w",
  });
});

test.each([
  ["smtps://mail.example", "requires the address of the sender, such as ?from=labd@lab.example."],
  [
    "smtps://mail.example?from=a@b,c@d",
    "requires the address of the sender, such as ?from=labd@lab.example.",
  ],
  ["smtps://u@mail.example?from=a@b.c", "give user and password, or neither."],
  ["smtps://mail.example?from=a@b.c&tls=no", "tls: choices are required and off."],
  ["smtps://mail.example?from=a@b.c&form=x", '"form" is not a parameter. Choices: from, tls.'],
  [
    "smtps://u:SECRET%@mail.example?from=a@b.c",
    "a % of the user or the password is not followed by two digits. Write it as %25.",
  ],
  ["smtps://u:SECRET@:99999?from=a@b.c", "not a valid URL. Encode special characters of the password."],
])("an import refuses an archive with %s", (url, error) => {
  expect(() => parseSmtpUrl(url)).toThrow(`smtp_url: ${error}`);
});
