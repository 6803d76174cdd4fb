import type { Clock } from "../platform/clock.ts";
import { Problem } from "../problem.ts";
import type { AccountAudit } from "./account-audit.ts";
import type { Actor } from "../platform/actor.ts";
import type { Sessions } from "./session.ts";
import type { SignIns } from "./sign-in.ts";

/** Minutes for which a confirmation counts. */
const CONFIRM_MINUTES = 10;
const MINUTE = 60_000;
const SIGN_IN_AGAIN = "sign in with the provider again, at /api/oidc/sign-in?again=1";

/**
 * Re-authentication of browser sessions before actions that would give an intruder at an unlocked computer lasting
 * access, such as creating a token. Tokens belong to programs, and Basic sends the password each time: neither is asked
 * again.
 */
export class Confirmations {
  constructor(
    private readonly clock: Clock,
    private readonly sessions: Sessions,
    private readonly signIns: SignIns,
    private readonly audit: AccountAudit,
  ) {}

  /**
   * Checks that the session was confirmed recently, or confirms it by the password.
   * @throws Problem confirmation_required; invalid_request that names current_password; throttled, busy,
   * identity_unavailable
   */
  async require(request: Request, actor: Pick<Actor, "user" | "username">, password = ""): Promise<void> {
    if (request.headers.has("authorization")) return;
    if (password !== "") return this.confirm(request, actor, password);
    const age = this.clock.now() - (this.sessions.find(request)?.confirmedAt ?? 0);
    if (age >= 0 && age < CONFIRM_MINUTES * MINUTE) return;
    const by = this.signIns.hasPassword(actor.user!) ? "password" : "provider";
    const remedy =
      by === "password" ? "send the password here or to /api/account/confirmation" : SIGN_IN_AGAIN;
    throw new Problem(
      "confirmation_required",
      `current_password: More than ${CONFIRM_MINUTES} min have passed since you entered your password: ${remedy}.`,
      { more: { field: "current_password", by } },
    );
  }

  /** Confirms the session by the local or the directory password. @throws Problem as `require` */
  async confirm(
    request: Request,
    { user, username }: Pick<Actor, "user" | "username">,
    password: string,
  ): Promise<void> {
    if (user === null || username === null) return;
    try {
      await this.signIns.verify({ username, password }, "confirm");
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== "unauthenticated") throw error;
      const wrong = this.signIns.hasPassword(user)
        ? "This is not the password of the account."
        : `The account has no password: ${SIGN_IN_AGAIN}.`;
      throw new Problem("invalid_request", `current_password: ${wrong}`, {
        fields: { current_password: [wrong] },
      });
    }
    this.sessions.confirm(request);
    this.audit.recordUser(user, "session.confirm");
  }
}
