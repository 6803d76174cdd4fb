import { X509Certificate, createPrivateKey } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { Problem } from "../problem.ts";

/** Certificate and key for TLS, as they were read. */
export interface Certificate {
  cert: string;
  key: string;
  /** Changes when either file does. */
  stamp: string;
}

/** Paths of files in PEM: the certificate with its chain, and its key. */
export interface CertificateFiles {
  certificate: string;
  key: string;
}

/** @throws Problem invalid_setting where the files cannot be read or do not belong together */
export function readCertificate({ certificate, key }: CertificateFiles): Certificate {
  const refuse = (text: string, cause?: unknown): Problem => new Problem("invalid_setting", text, { cause });
  const read = (setting: string, path: string): string => {
    try {
      return readFileSync(path, "utf8");
    } catch (error) {
      throw refuse(`${setting}: cannot read ${path}: ${(error as Error).message}.`, error);
    }
  };
  const stamp = stampFiles({ certificate, key });
  const pair = { cert: read("tls_certificate", certificate), key: read("tls_key", key), stamp };
  let matches: boolean;
  try {
    matches = new X509Certificate(pair.cert).checkPrivateKey(createPrivateKey(pair.key));
  } catch (error) {
    throw refuse(
      `tls_certificate, tls_key: ${certificate} or ${key} is not PEM, or the key has a passphrase: ${(error as Error).message}.`,
      error,
    );
  }
  if (!matches)
    throw refuse(
      `tls_key: ${key} is not the key of the first certificate in ${certificate}. Put the server's certificate first and its chain after it.`,
    );
  return pair;
}

/** Identifies the state of the files. */
export function stampFiles({ certificate, key }: CertificateFiles): string {
  return [certificate, key]
    .map((path) => {
      const stat = statSync(path, { throwIfNoEntry: false });
      return stat ? `${stat.ino} ${stat.size} ${stat.mtimeMs}` : "";
    })
    .join(" ");
}
