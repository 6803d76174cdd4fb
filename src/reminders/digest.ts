import { type DueList, type DueStock, EXPIRING_DAYS, formatAmount } from "../inventory/index.ts";

/** Records of each list that an e-mail shows. */
export const SHOWN = 50;

/** Page of the profile where reminders are switched on and off. @param base URL of the service */
export const settingsPage = (base: string): string => `${base}/profile#reminders`;

/** Page that verifies an address. */
export const VERIFY_PATH = "/verify-email";

/** The e-mail that shows whether an address is its account's. @param link the page with its key */
export const verificationText = (username: string, link: string, base: string, hours: number) => ({
  subject: "Confirm your e-mail address",
  text: `The account ${username} of labd at ${base} has this e-mail address. If it is yours, confirm it here, so that labd sends reminders to it:
${link}

The link works once within ${hours} hours. If the account is not yours, ignore this e-mail.
`,
});

/** Why stock is listed: in the subject, and in the heading. */
const WORDS = {
  below_minimum: ["below minimum", "Empty or below minimum"],
  expired: ["expired", "Expired"],
  expiring: ["expiring soon", `Expiring in ${EXPIRING_DAYS} days`],
} as const;

/** The e-mail of one person. @param base URL of the service */
export function digestText(lists: readonly DueList[], base: string): { subject: string; text: string } {
  const counts = lists.map(({ reason, total }) => `${total} ${WORDS[reason][0]}`);
  const blocks = lists.map((list) => listText(list, base));
  const end = `You get this e-mail because you switched reminders on in labd. Change that here:\n${settingsPage(base)}\n`;
  return { subject: `Stock: ${counts.join(", ")}`, text: [...blocks, end].join("\n") };
}

function listText({ reason, total, shown }: DueList, base: string): string {
  const heading = `${WORDS[reason][1]} (${total})`;
  const lines = shown.map((stock) => {
    const { segment, values, isNew } = stock;
    const place = [values.location__unique_path, values.position].map(plain).filter((part) => part !== "");
    const where = place.length === 0 ? "" : ` (${place.join(", ")})`;
    const address = `${base}/inventory/${segment.replace("/", "-")}/${plain(values.id)}`;
    return `${isNew ? "* New: " : "* "}${plain(values.name)}, ${describe(stock)}${where}\n  ${address}\n`;
  });
  const list = `${base}/inventory/running-out${reason === "below_minimum" ? "" : `?state=${reason}`}`;
  const rest = total > shown.length ? `${total - shown.length} more are in the list:\n` : "Open the list:\n";
  return `${heading}\n${"-".repeat(heading.length)}\n\n${lines.join("")}\n${rest}${list}\n`;
}

/** `0.5 mL left, minimum 2 mL`, or the day of expiry. */
function describe({ segment, state, tubes, left, unit, minimum, expiry }: DueStock): string {
  if (state === "expired") return `expired ${expiry}`;
  if (state === "expiring") return `expires ${expiry}`;
  // Amounts of products without a unit are numbers of tubes.
  const word = segment === "stocks/products" && unit === "" ? " tubes" : "";
  const format = (value: number): string => formatAmount({ value, unit: plain(unit) }) + word;
  const known = left === null ? `low, ${tubes} left` : `${format(left)} left`;
  const amount = state === "empty" ? "empty" : known;
  return minimum === null ? amount : `${amount}, minimum ${format(minimum)}`;
}

/** A value on one line. */
const plain = (value: unknown): string =>
  (value === null || value === undefined ? "" : String(value)).replace(/[\p{Cc}\s]+/gu, " ").trim();
