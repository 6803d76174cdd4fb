import { writeFileSync } from "node:fs";
import { join } from "node:path";

export const OPENSSL = Bun.which("openssl");

const CURVE = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";

function openssl(words: string, cwd?: string): void {
  const run = Bun.spawnSync([OPENSSL!, ...words.split(" ")], cwd ? { cwd } : {});
  if (run.exitCode !== 0) throw new Error(String(run.stderr));
}

/** Makes a key and a certificate that it signs itself, in files, for `days` days. */
export function selfSigned(files: { key: string; certificate: string }, name: string, days: number): void {
  const output = `-keyout ${files.key} -out ${files.certificate} -days ${days}`;
  openssl(`req -x509 ${CURVE} ${output} -subj /CN=${name} -addext subjectAltName=DNS:${name}`);
}

/** Makes an authority NAME-ca.pem, and by it NAME-cert.pem with NAME-key.pem for localhost and an address. */
export function certify(directory: string, name: string, address = "127.0.0.1"): void {
  writeFileSync(join(directory, `${name}-ext`), `subjectAltName=DNS:localhost,IP:${address}\n`);
  for (const words of [
    `req -x509 ${CURVE} -keyout @ca.key -out @ca.pem -days 2 -subj /CN=${name}-authority`,
    `req ${CURVE} -keyout @key.pem -out @req.pem -subj /CN=localhost`,
    "x509 -req -in @req.pem -CA @ca.pem -CAkey @ca.key -CAcreateserial -days 2 -extfile @ext -out @cert.pem",
  ])
    openssl(words.replaceAll("@", `${name}-`), directory);
}
