import { Problem } from "../problem.ts";
import type { AccountAudit } from "./account-audit.ts";
import type { Clock } from "../platform/clock.ts";
import type { Sessions } from "./session.ts";
import type { SignIns } from "./sign-in.ts";

const MINUTE = 60_000;

/** Who asks. */
interface ConfirmingUser {
  user: number | null;
  username: string | null;
}

/**
 * Showing again who one is, before what would let whoever finds an open browser stay for good: making a token, setting
 * up a second factor, and the like. It is asked of sessions alone: tokens are for programs, and Basic brings the password.
 */
export class Confirmations {
  /** @param minutes for which having shown it counts */
  constructor(
    private readonly clock: Clock,
    private readonly sessions: Sessions,
    private readonly signIns: SignIns,
    private readonly notes: AccountAudit,
    private readonly minutes: number,
  ) {}

  /**
   * Where the session of a request has shown a short while ago who it is, or brings the password along.
   * @throws Problem confirmation_required; invalid_request that names current_password; throttled, busy,
   * identity_unavailable
   */
  async require(request: Request, actor: ConfirmingUser, password = ""): Promise<void> {
    if (request.headers.has("authorization")) return;
    if (password !== "") return this.confirm(request, actor, password);
    const age = this.clock.now() - (this.sessions.find(request)?.confirmedAt ?? 0);
    if (age >= 0 && age < this.minutes * MINUTE) return;
    const by = this.signIns.hasPassword(actor.user!) ? "password" : "provider";
    const how =
      by === "password"
        ? "give your password once more, here or at /api/account/confirmation"
        : "sign in by the provider once more, at /api/oidc/sign-in?again=1";
    throw new Problem(
      "confirmation_required",
      `current_password: You showed who you are more than ${this.minutes} min ago: ${how}.`,
      { more: { field: "current_password", by } },
    );
  }

  /** By the password of the account, here or in the directory. @throws Problem as `require` */
  async confirm(request: Request, { user, username }: ConfirmingUser, password: string): Promise<void> {
    if (user === null || username === null) return;
    try {
      await this.signIns.verify({ username, password }, "confirm", request);
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== "unauthenticated") throw error;
      const wrong = this.signIns.hasPassword(user)
        ? "This is not the password of the account."
        : "The account has no password: sign in by the provider once more, at /api/oidc/sign-in?again=1.";
      throw new Problem("invalid_request", `current_password: ${wrong}`, {
        fields: { current_password: [wrong] },
      });
    }
    this.sessions.confirm(request);
    this.notes.recordUser(user, "session.confirm");
  }
}
