import { type DueList, formatAmount, REMINDER_REASONS, listTitle } from "../inventory/index.ts";

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

const pageUrl = (base: string, segment: string): string => `${base}/inventory/${segment.replace("/", "-")}`;
/** The e-mail of one person. @param base URL of the service */
export function digestText(lists: readonly DueList[], base: string): { subject: string; text: string } {
  const counts = (Object.keys(REMINDER_REASONS) as (keyof typeof REMINDER_REASONS)[]).flatMap((reason) => {
    const total = lists.filter((list) => list.reason === reason).reduce((sum, list) => sum + list.total, 0);
    return total === 0 ? [] : [`${total} ${SUBJECTS[reason]}`];
  });
  const blocks = lists.map((list) => listText(list, base));
  const end = `You get this e-mail because you switched reminders on in labd. Change that here:\n${settingsPage(base)}\n`;
  return { subject: `Stock: ${counts.join(", ")}`, text: [...blocks, end].join("\n") };
}

const SUBJECTS = { expiring: "expiring soon", below_minimum: "below minimum" } as const;

function listText({ reason, segment, total, shown }: DueList, base: string): string {
  const { title, query } = REMINDER_REASONS[reason];
  const heading = `${listTitle(segment)} ${title} (${total})`;
  const lines = shown.map(({ values, isNew }) => {
    const facts = reason === "expiring" ? formatExpiry(values) : formatShortage(values);
    const place = [values.location__unique_path, values.position].map(plain).filter((part) => part !== "");
    const where = place.length === 0 ? "" : ` (${place.join(", ")})`;
    const address = `${pageUrl(base, segment)}/${plain(values.id)}`;
    return `${isNew ? "* New: " : "* "}${plain(values.name)}, ${facts}${where}\n  ${address}\n`;
  });
  const list = `${pageUrl(base, segment)}?${query}`;
  const rest = total > shown.length ? `${total - shown.length} more are in the list:\n` : "Open the list:\n";
  return `${heading}\n${"-".repeat(heading.length)}\n\n${lines.join("")}\n${rest}${list}\n`;
}

type Values = DueList["shown"][number]["values"];

const formatExpiry = ({ expiry }: Values): string => `expires ${plain(expiry).slice(0, 10)}`;

function formatShortage({ amount, minimum_amount, unit__name }: Values): string {
  const format = (value: unknown): string => formatAmount({ value: Number(value), unit: plain(unit__name) });
  // Of some records only the status says that they are low.
  const left = amount === null ? "low or empty" : `${format(amount)} left`;
  return minimum_amount === null ? left : `${left}, minimum ${format(minimum_amount)}`;
}

/** A value on one line. */
const plain = (value: unknown): string =>
  (value === null || value === undefined ? "" : String(value)).replace(/[\p{Cc}\s]+/gu, " ").trim();
