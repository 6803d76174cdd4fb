import { readFileSync } from "node:fs";
import { Problem } from "../problem.ts";

/** A mail server and the sender, as the setting smtp_url has them. */
export interface SmtpServer {
  host: string;
  port: number;
  /** TLS from the start; upgraded by STARTTLS, or the connection fails; or none. */
  protection: "tls" | "starttls" | "none";
  user: string;
  password: string;
  /** Address of the sender. */
  from: string;
  /** Certificates of own authorities; empty trusts the system's. */
  ca: string;
}

export interface Email {
  to: { name: string; address: string };
  subject: string;
  text: string;
  /** Page where its recipient stops these e-mails. */
  settings: string;
}

interface FailureKind {
  /** Only this recipient failed: the server may accept others. */
  isRecipient: boolean;
  /** The connection ended before the server said whether it accepted the e-mail. */
  mayBeDelivered: boolean;
  /** The server may accept the e-mail later. */
  isTemporary: boolean;
}

/** An e-mail that was not accepted. */
export class EmailFailure extends Error {
  constructor(
    message: string,
    readonly kind: FailureKind,
  ) {
    super(message);
  }
}

/** Milliseconds without a response after which a step has failed. */
const TIMEOUT = 15_000;
const PORTS = { tls: 465, starttls: 587, none: 587 };
const PARAMETERS = ["from", "tls"];
const isLocal = (host: string): boolean => /^(localhost|127\.[\d.]+|::1)$/i.test(host);
const invalid = (text: string): Problem => new Problem("invalid_setting", `smtp_url: ${text}`);

/** Parses the setting smtp_url. @throws Problem invalid_setting, which never contains the password */
export function parseSmtpUrl(setting: string, caFile = ""): SmtpServer {
  if (!URL.canParse(setting)) throw invalid("not a valid URL. Encode special characters of the password.");
  const { protocol, hostname, port, username, password, searchParams } = new URL(setting);
  const host = hostname.replace(/^\[|\]$/g, "");
  if (host === "") throw invalid("names no host.");
  if ((username === "") !== (password === "")) throw invalid("give user and password, or neither.");
  const { from, isPlain } = parseParameters(searchParams, host);
  const protection = protocol === "smtps:" ? "tls" : isPlain ? "none" : "starttls";
  return {
    host,
    port: Number(port || PORTS[protection]),
    protection,
    user: decodePart(username),
    password: decodePart(password),
    from,
    ca: caFile === "" ? "" : readCertificates(caFile),
  };
}

function parseParameters(parameters: URLSearchParams, host: string): { from: string; isPlain: boolean } {
  const unknown = [...parameters.keys()].find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined)
    throw invalid(`"${unknown}" is not a parameter. Choices: ${PARAMETERS.join(", ")}.`);
  const from = parameters.get("from") ?? "";
  if (!/^[^\s@<>,]+@[^\s@<>,]+$/.test(from))
    throw invalid("requires the address of the sender, such as ?from=labd@lab.example.");
  const tls = parameters.get("tls") ?? (isLocal(host) ? "off" : "required");
  if (tls !== "required" && tls !== "off") throw invalid("tls: choices are required and off.");
  return { from, isPlain: tls === "off" };
}

function decodePart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalid("a % of the user or the password is not followed by two digits. Write it as %25.");
  }
}

function readCertificates(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new Problem("invalid_setting", `ca_file: ${file} cannot be read.`, { cause: error });
  }
}

/** Sends one e-mail over its own connection. @throws EmailFailure that names the server, and what it said */
export async function sendEmail(server: SmtpServer, { to, subject, text, settings }: Email): Promise<void> {
  const { host, port, protection, user, password, from, ca } = server;
  const { createTransport } = await import("nodemailer");
  const transport = createTransport({
    host,
    port,
    secure: protection === "tls",
    requireTLS: protection === "starttls",
    ignoreTLS: protection === "none",
    ...(user === "" ? {} : { auth: { user, pass: password } }),
    ...(ca === "" ? {} : { tls: { ca } }),
    connectionTimeout: TIMEOUT,
    greetingTimeout: TIMEOUT,
    socketTimeout: TIMEOUT,
    dnsTimeout: TIMEOUT,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    await transport.sendMail({
      from: { name: "labd", address: from },
      to,
      subject,
      text,
      headers: { "Auto-Submitted": "auto-generated", "List-Unsubscribe": `<${settings}>` },
    });
  } catch (error) {
    throw describeFailure(server, to.address, error as SmtpError);
  } finally {
    transport.close();
  }
}

interface SmtpError extends Error {
  code?: string;
  /** The server's words. */
  response?: string;
  responseCode?: number;
  command?: string;
}

/** The failed step, by code or text of the error. */
const FAILURES: readonly [RegExp, string][] = [
  [/EDNS|ENOTFOUND/, "The host name cannot be resolved"],
  [/ECONNREFUSED/, "The connection was refused"],
  [/EHOSTUNREACH|ENETUNREACH/, "There is no route to the host"],
  [/EAUTH/, "It rejected user or password"],
  [/ETLS|CERT|certificate|SSL/, "An encrypted connection failed"],
  [/ETIMEDOUT/, "It did not respond in time"],
  [/ECONNECTION/, "It closed the connection"],
];

/** The failed step, by the command that the server answered. */
const REJECTIONS: Readonly<Record<string, string>> = {
  "MAIL FROM": "It rejected the sender",
  "RCPT TO": "It rejected the recipient",
  DATA: "It rejected the message",
};

function describeFailure({ host, port, from }: SmtpServer, to: string, error: SmtpError): EmailFailure {
  const { code = "", response, responseCode = 0, command = "", message } = error;
  const text = `${code} ${message}`;
  const failure = FAILURES.find(([pattern]) => pattern.test(text))?.[1] ?? "It cannot be used";
  const address = { "MAIL FROM": ` ${from}`, "RCPT TO": ` ${to}` }[command] ?? "";
  const answer = (response ?? message).replace(/\p{Cc}+/gu, " ").slice(0, 500);
  const isRecipient = command === "RCPT TO" || (code === "EENVELOPE" && command !== "MAIL FROM");
  return new EmailFailure(
    `Mail server ${host}:${port}: ${REJECTIONS[command] ?? failure}${address}: ${answer}`,
    {
      isRecipient,
      mayBeDelivered: response === undefined && /ETIMEDOUT|ECONNECTION|ECONNRESET|EPIPE/.test(text),
      isTemporary: responseCode < 500 || !isRecipient,
    },
  );
}
