import { X509Certificate, createPrivateKey } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { Problem } from "../problem.ts";

/** Certificate and key for TLS, as they were read. */
export interface Pair {
  cert: string;
  key: string;
  /** Changes when either file does. */
  stamp: string;
}

/** Files in PEM: the certificate with its chain, and its key. */
export interface PairFiles {
  certificate: string;
  key: string;
}

/** @throws Problem invalid_setting where the files cannot be read or do not belong together */
export function readPair({ certificate, key }: PairFiles): Pair {
  const read = (setting: string, path: string): string => {
    try {
      return readFileSync(path, "utf8");
    } catch (error) {
      throw new Problem(
        "invalid_setting",
        `${setting}: ${path} cannot be read: ${(error as Error).message}.`,
        {
          cause: error,
        },
      );
    }
  };
  const stamp = stampOf({ certificate, key });
  const pair = { cert: read("tls_certificate", certificate), key: read("tls_key", key), stamp };
  let belongs: boolean;
  try {
    // The first of the file is the server's own, those behind it are its chain.
    belongs = new X509Certificate(pair.cert).checkPrivateKey(createPrivateKey(pair.key));
  } catch (error) {
    throw new Problem(
      "invalid_setting",
      `tls_certificate, tls_key: ${certificate} or ${key} is not in PEM, or the key has a password: ${(error as Error).message}.`,
      { cause: error },
    );
  }
  if (!belongs)
    throw new Problem(
      "invalid_setting",
      `tls_key: ${key} is not the key of the first certificate in ${certificate}; the server's own comes first, its chain behind it.`,
    );
  return pair;
}

/** A name for the state of the files. */
export function stampOf({ certificate, key }: PairFiles): string {
  return [certificate, key]
    .map((path) => {
      const stat = statSync(path, { throwIfNoEntry: false });
      return stat ? `${stat.ino} ${stat.size} ${stat.mtimeMs}` : "";
    })
    .join(" ");
}
