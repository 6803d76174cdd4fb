/** Path of the resource that a JSON value names, such as the record of an id; undefined for other values. */
export type FindLink = (key: string, value: string | number) => string | undefined;

const ADDRESS = /^https?:\/\/[^\s<>"']+$/;

/**
 * JSON as HTML, indented by four blanks, in which addresses and what `findLink` knows are links.
 * @param base prefix of paths
 * @param key name of the member that has the value
 */
export function printJson(value: unknown, findLink: FindLink, base: string, key = "", indent = ""): string {
  const print = (item: unknown, name: string): string =>
    printJson(item, findLink, base, name, `${indent}    `);
  const block = (open: string, lines: string[], close: string): string =>
    lines.length === 0
      ? open + close
      : `${open}\n${lines.map((line) => `${indent}    ${line}`).join(",\n")}\n${indent}${close}`;
  if (Array.isArray(value))
    return block(
      "[",
      value.map((item) => print(item, key)),
      "]",
    );
  const text = Bun.escapeHTML(JSON.stringify(value));
  if (value !== null && typeof value === "object")
    return block(
      "{",
      Object.entries(value).map(
        ([name, item]) => `${Bun.escapeHTML(JSON.stringify(name))}: ${print(item, name)}`,
      ),
      "}",
    );
  if (typeof value !== "string" && typeof value !== "number") return text;
  const path = findLink(key, value);
  const address = ADDRESS.test(String(value)) ? String(value) : path && base + path;
  return address === undefined ? text : `<a href="${Bun.escapeHTML(address)}">${text}</a>`;
}
