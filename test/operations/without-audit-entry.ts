/** Operations without an entry, and why. */
export const WITHOUT_ENTRY: [operation: RegExp, reason: string][] = [
  [/^POST .*\/search$/, "a preview writes nothing"],
  [/^(POST|PUT|PATCH) .*\/(annotations|notes)\b/, "in the history of the record"],
  [/^(POST|PUT|PATCH) \/api\/v2\/(projects|attachments)(\/\{id\})?$/, "in the history of the record"],
  [/^DELETE .*\/(annotations|notes|attachments)\b|\/\{grant\}\/(restore|purge)$/, "recorded like records"],
  [/\/(annotations|notes|attachments)\/.*(restore|purge)$/, "recorded like records"],
  [/^(POST|PUT|DELETE) (\/api\/scoring\/|\/soap\/)/, "the job itself is kept"],
  [/^POST \/api\/account\/second-factor$/, "has no effect until it is confirmed"],
  [/^PUT \/api\/account\/reminders$/, "concerns only e-mails to oneself"],
  [/^POST \/api\/(admin\/reminders\/test|account\/reminders\/verification)$/, "sends one e-mail to oneself"],
  [/^POST \/api\/account\/reminders\/verification\/confirm$/, "account.verify_email; needs a mail server"],
  [/^POST \/api\/webhooks\/\{id\}\/(ping|deliveries\/\{delivery\}\/redeliver)$/, "in the log of deliveries"],
];
