import type { Content } from "../../platform/operation.ts";
import type { FileFormat } from "../table/table-formats.ts";

/** Parts of the OpenAPI descriptions of several operations. */

/** The content of a file in each format; JSON that has a schema of its own is left out. */
export const describeContent = (formats: Readonly<Record<string, FileFormat>>, hasSchema = false): Content =>
  Object.fromEntries(
    Object.entries(formats)
      .filter(([name]) => !hasSchema || name !== "json")
      .map(([, { contentType, sentence }]) => [
        contentType.split(";")[0],
        { schema: { type: "string", description: sentence } },
      ]),
  );
const string = (description: string) => ({ description, schema: { type: "string" } as const });

/** A header that a request may have. */
export const describeHeader = (name: string, description: string) => ({
  name,
  in: "header",
  required: false,
  ...string(description),
});

/** The header of requests of owners who have no account. */
export const OWNER_KEY = {
  $id: "Owner-Key",
  ...describeHeader(
    "Owner-Key",
    "A secret of the client, 20 to 255 printable ASCII characters. Without an account, callers that send the secret with which a job or search was started may change it. Browsers have a cookie instead.",
  ),
};

/** The header of requests that may be repeated. @param subject what they start */
export const describeIdempotencyKey = (subject: string) =>
  describeHeader(
    "Idempotency-Key",
    `A key chosen by the client, 1 to 255 printable ASCII characters: valid as long as the ${subject} is kept.`,
  );

/** The header of the answer that starts something. */
export const describeLocation = (what: string) => ({ Location: string(`Address of the ${what}.`) });

/** A file of bytes. */
export const FILE = { "application/octet-stream": { schema: { type: "string", format: "binary" } } };
