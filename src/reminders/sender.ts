import type { Accounts } from "../accounts/accounts.ts";
import { GrowingDelay, throttled } from "../accounts/throttle.ts";
import type { Reminders } from "../inventory/index.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import { Problem } from "../problem.ts";
import { digestText, settingsPage, SHOWN, VERIFY_PATH, verificationText } from "./digest.ts";
import { type Email, EmailFailure } from "./smtp.ts";
import type { Subscription, SubscriptionStore } from "./store.ts";

export interface SenderOptions {
  store: SubscriptionStore;
  reminders: Reminders;
  accounts: Pick<Accounts, "readActor" | "links">;
  /** Sends an e-mail; undefined without a mail server. @throws EmailFailure */
  send: ((email: Email) => Promise<void>) | undefined;
  /** Waits while another thread holds the write lock. */
  waitUntilWritable: () => Promise<void> | undefined;
  clock: Clock;
  log: Log;
  /** URL of the service without /api/, for links. */
  base: string;
  /** Milliseconds that `close` waits for an e-mail that is being sent. */
  closeTimeout?: number;
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Hour (UTC) from which e-mails of the day are sent. */
const SENDING_HOUR = 6;
const POLL_INTERVAL = 60_000;
const CLOSE_TIMEOUT = 3000;
/** Hours for which a link that verifies an address is valid. */
const LINK_HOURS = 72;

/** The next sending hour after a time. */
export const nextMorning = (now: number): number => {
  const today = Math.floor(now / DAY) * DAY + SENDING_HOUR * HOUR;
  return today > now ? today : today + DAY;
};

/**
 * Looks for due stock and sends each person at most one e-mail a day, if something is new. The time of the
 * next one is on disk before an e-mail is sent, so that none is repeated after a crash; reminders count as seen only
 * after the mail server accepted them, so that none is lost.
 */
export class ReminderSender {
  readonly #options: SenderOptions;
  #timer: Timer | undefined;
  #polling: Promise<void> | undefined;
  /** Time until which e-mails wait after a failure of the mail server. */
  #pausedUntil = 0;
  #closing = false;
  /** The database may be closed. */
  #closed = false;

  /** Links that people asked for. */
  readonly #links: GrowingDelay;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#links = new GrowingDelay(options.clock);
  }

  start(): void {
    this.#timer = setInterval(() => void this.poll(), POLL_INTERVAL);
    this.#timer.unref();
  }

  /** Stops. Records of an e-mail that is not accepted in time count as new on the next day. */
  async close(): Promise<void> {
    this.#closing = true;
    clearInterval(this.#timer);
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, this.#options.closeTimeout ?? CLOSE_TIMEOUT);
    await Promise.race([this.#polling, late.promise]);
    clearTimeout(timer);
    this.#closed = true;
  }

  /** Sends due reminders. Never rejects. */
  poll(): Promise<void> {
    this.#polling ??= this.#run().finally(() => (this.#polling = undefined));
    return this.#polling;
  }

  async #run(): Promise<void> {
    try {
      if (this.#options.send) await this.#sendAll();
    } catch (error) {
      // An error such as a full disk; the next poll tries again.
      if (!this.#closed) this.#options.log.problem("reminders", { cause: String(error) });
    }
  }

  async #sendAll(): Promise<void> {
    const { store, clock } = this.#options;
    while (!this.#closing) {
      const now = clock.now();
      if (now < this.#pausedUntil && this.#pausedUntil <= now + HOUR) return;
      const next = store.nextDue(now, now + DAY);
      if (next === null) return;
      await this.#sendTo(next);
    }
  }

  async #sendTo(subscription: Subscription): Promise<void> {
    const { store, reminders, accounts, send, waitUntilWritable, clock, log, base } = this.#options;
    const { user, seen } = subscription;
    await waitUntilWritable();
    store.postpone(user, nextMorning(clock.now()));
    if (!subscription.isVerified) return this.#askOnce(subscription);
    const last = await reminders.scan(user, waitUntilWritable);
    const lists = await reminders.listDue(accounts.readActor(user), seen, SHOWN);
    if (!lists.some(({ shown }) => shown.some(({ isNew }) => isNew))) return;
    try {
      await send!({
        to: toRecipient(subscription),
        settings: settingsPage(base),
        ...digestText(lists, base),
      });
    } catch (error) {
      if (!(error instanceof EmailFailure)) throw error;
      if (this.#closed) return;
      await this.#recordFailure(subscription, error);
      return;
    }
    if (this.#closed) return;
    await waitUntilWritable();
    store.recordSent(user, last, clock.now());
    log.info("reminder sent", { user });
  }

  /** Sends a link to an unverified address, once, instead of reminders. */
  async #askOnce(subscription: Subscription): Promise<void> {
    if (subscription.asked === subscription.email) return;
    try {
      await this.#sendLink(subscription.user, subscription);
    } catch (error) {
      if (!(error instanceof EmailFailure)) throw error;
      if (!this.#closed) await this.#recordFailure(subscription, error);
    }
  }

  async #sendLink(user: number, person: Pick<Subscription, "fullName" | "email">): Promise<void> {
    const { store, accounts, send, base, waitUntilWritable, log } = this.#options;
    await waitUntilWritable();
    const { key } = accounts.links.make(user, LINK_HOURS, person.email);
    const { username } = accounts.readActor(user);
    const email = verificationText(username!, `${base}${VERIFY_PATH}?key=${key}`, base, LINK_HOURS);
    await send!({ to: toRecipient(person), settings: settingsPage(base), ...email });
    if (this.#closed) return;
    await waitUntilWritable();
    store.recordAsked(user, person.email);
    log.info("address link sent", { user });
  }

  /** Sends a link that verifies the address of an account. @throws Problem conflict, throttled, email_failed */
  async sendVerification(user: number): Promise<string> {
    const { store, send } = this.#options;
    if (!send) throw new Problem("conflict", NO_SERVER);
    const person = store.recipient(user);
    if (person.email === "") throw new Problem("conflict", NO_ADDRESS);
    if (person.isVerified) throw new Problem("conflict", `${person.email} is verified already.`);
    const key = String(user);
    const wait = this.#links.wait(key);
    if (wait > 0) throw throttled(wait);
    this.#links.count(key);
    await this.#reportingFailure(this.#sendLink(user, person));
    return person.email;
  }

  async #reportingFailure(sending: Promise<void>): Promise<void> {
    try {
      await sending;
    } catch (error) {
      if (error instanceof EmailFailure) throw new Problem("email_failed", error.message);
      throw error;
    }
  }

  async #recordFailure(
    { user, email }: Subscription,
    { message, kind: { isRecipient, mayBeDelivered, isTemporary } }: EmailFailure,
  ): Promise<void> {
    const { store, waitUntilWritable, clock, log } = this.#options;
    await waitUntilWritable();
    const soon = clock.now() + HOUR;
    if (!isRecipient) this.#pausedUntil = soon;
    const again = isTemporary && !mayBeDelivered ? soon : nextMorning(clock.now());
    store.recordFailure(user, message, again);
    // The log has no addresses of people.
    log.problem("reminder not sent", { user, cause: message.replaceAll(email, "…") });
  }

  /** Sends a test message to an account. @throws Problem conflict, store_failed with the words of the mail server */
  async sendTest(user: number): Promise<string> {
    const { store, send, base } = this.#options;
    if (!send) throw new Problem("conflict", NO_SERVER);
    const person = store.recipient(user);
    if (person.email === "") throw new Problem("conflict", NO_ADDRESS);
    const text = `This is a test message of labd at ${base}. Reminders can be sent.\n`;
    const email = { to: toRecipient(person), subject: "Test message", text, settings: settingsPage(base) };
    await this.#reportingFailure(send(email));
    return person.email;
  }
}

export const NO_SERVER = "There is no mail server: set smtp_url.";
export const NO_ADDRESS = "Your account has no e-mail address. Add one in your profile.";

const toRecipient = ({ fullName, email }: { fullName: string; email: string }): Email["to"] => ({
  name: fullName,
  address: email,
});
