export const OPENSSL = Bun.which("openssl");

/** Makes a key and a certificate that it signs itself, in files, for `days` days. */
export function selfSigned(files: { key: string; certificate: string }, name: string, days: number): void {
  const made = Bun.spawnSync(
    [OPENSSL!, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"].concat(
      ["-keyout", files.key, "-out", files.certificate, "-days", String(days)],
      ["-subj", `/CN=${name}`, "-addext", `subjectAltName=DNS:${name}`],
    ),
  );
  if (made.exitCode !== 0) throw new Error(String(made.stderr));
}
