import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { type CheckResult, ok, problem, warning } from "../../platform/check-result.ts";

const DAY = 86_400_000;
const SOON = 14;

/** Whether certificate and key can be used, and until when. */
export function checkCertificate(certificate: string, key: string, now: number): CheckResult[] {
  if (certificate === "" && key === "") return [];
  let pair: X509Certificate;
  try {
    pair = new X509Certificate(readFileSync(certificate));
    if (!pair.checkPrivateKey(createPrivateKey(readFileSync(key))))
      return [
        problem(
          "certificate",
          `${key} is not the key of ${certificate}.`,
          "Set tls_certificate and tls_key to a pair.",
        ),
      ];
  } catch (error) {
    return [
      problem(
        "certificate",
        `It cannot be read: ${(error as Error).message}.`,
        "See to tls_certificate and tls_key, and whether this account may read them.",
      ),
    ];
  }
  const days = Math.floor((Date.parse(pair.validTo) - now) / DAY);
  const until = `${certificate} is valid until ${new Date(pair.validTo).toISOString().slice(0, 10)}`;
  if (days < 0)
    return [
      problem("certificate", `${until}: it is over.`, "Renew it; the server reads it again by itself."),
    ];
  if (days < SOON)
    return [
      warning(
        "certificate",
        `${until}, ${days} days more.`,
        "Renew it; the server reads it again by itself.",
      ),
    ];
  return [ok("certificate", `${until}.`)];
}
