import type { ClientReport } from "./ledger.ts";
import { json, type Lane, recordOutcome, send } from "./lane.ts";

/** Signs in with the right password, a wrong one, and basic authentication. */
export class SignInClient {
  readonly tokens: string[] = [];
  readonly failedSignIns: ClientReport["failedSignIns"] = { confirmed: 0, possible: 0 };
  readonly #lane: Lane;

  constructor(lane: Lane) {
    this.#lane = lane;
  }

  async run(): Promise<void> {
    const { next } = this.#lane;
    while (!this.#lane.stopped()) {
      const draw = next();
      if (draw < 0.3) await this.signIn();
      else if (draw < 0.6) await this.readWithPassword();
      else await this.failSignIn();
      await Bun.sleep(100 + next() * 300);
    }
  }

  async signIn(): Promise<void> {
    const { username, password } = this.#lane.config;
    const reply = await this.#requestToken(username, password);
    if (recordOutcome(this.#lane, "sign in", reply, [200]) === "accepted")
      this.tokens.push(json(reply!).token);
  }

  async failSignIn(): Promise<void> {
    const { next, config } = this.#lane;
    // Ten failures in five minutes lock an account: each name is new and belongs to nobody.
    const username = `nobody-${config.number}-${Math.floor(next() * 1e9)}`;
    const reply = await this.#requestToken(username, "not the password");
    const outcome = recordOutcome(this.#lane, "sign in with a wrong password", reply, [401]);
    if (outcome === "rejected" && reply!.status === 401) this.failedSignIns.confirmed++;
    else if (outcome === "unknown") this.failedSignIns.possible++;
  }

  async readWithPassword(): Promise<void> {
    const { username, password } = this.#lane.config;
    const headers = { Authorization: `Basic ${btoa(`${username}:${password}`)}`, ...this.#randomAddress() };
    const reply = await send(this.#lane, "GET", "/api/v2/tokens/", undefined, headers);
    recordOutcome(this.#lane, "read with a password", reply, [200]);
  }

  #requestToken(username: string, password: string): ReturnType<typeof send> {
    const headers = { Authorization: "", ...this.#randomAddress() };
    return send(this.#lane, "POST", "/api/v2/token-auth/", { username, password }, headers);
  }

  /** A hundred failures block an address. */
  #randomAddress(): Record<string, string> {
    const byte = (): number => Math.floor(this.#lane.next() * 256);
    return { "X-Forwarded-For": `10.2.${byte()}.${byte()}` };
  }
}
