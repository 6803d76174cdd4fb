/** Security of an operation that callers without credentials may use, too. */
export const OPTIONAL_CREDENTIALS = [{}, { token: [] }, { basic: [] }, { session: [] }];

export const SECURITY_SCHEMES = {
  token: {
    type: "apiKey" as const,
    in: "header" as const,
    name: "Authorization",
    description: "`Token <token>` (or `Bearer <token>`), from `labd token add` or `POST /api/v2/token-auth/`",
  },
  basic: {
    type: "http" as const,
    scheme: "basic",
    description: "Username and password, for accounts without a second factor.",
  },
  session: {
    type: "apiKey" as const,
    in: "cookie" as const,
    name: "labd_session",
    description: "Session from `POST /api/v2/session/`. Writing requests also need `X-CSRFToken`.",
  },
};
