/** Answers of both clients. */

/** The answer, or the server's message as an error. */
export function expectData<Data>({ data, error }: { data?: Data; error?: unknown }): Data {
  if (data === undefined) throw new Error(JSON.stringify(error));
  return data;
}

/** The id of an answered record. */
export function idOf(answer: unknown): string {
  if (answer !== null && typeof answer === "object" && "id" in answer && typeof answer.id === "string")
    return answer.id;
  throw new Error("The answer is not a record.");
}
