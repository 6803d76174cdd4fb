/** A value of a service as its JSON has it: times are text in ISO 8601. */
export type Printed<T, Times extends keyof T> = Omit<T, Times> & {
  [Name in Times]: null extends T[Name] ? string | null : string;
};
