/** A value within a filter: what could end it or mean something else is written as its code (RFC 4515, section 3). */
const escapeFilterValue = (value: string): string =>
  value.replace(/[\0()*\\]/g, (sign) => `\\${sign.charCodeAt(0).toString(16).padStart(2, "0")}`);

/** A filter with values in the places that name them, `{username}`; other braces stay. */
export const fillFilter = (filter: string, values: Readonly<Record<string, string>>): string =>
  filter.replace(/\{(\w+)\}/g, (place, name: string) =>
    Object.hasOwn(values, name) ? escapeFilterValue(values[name]) : place,
  );
