import type { BunPlugin } from "bun";

/** Compresses large files in the executable, which are read rarely. */
export const compressAssets: BunPlugin = {
  name: "compress assets",
  setup(build) {
    // `labels/pdf.ts` unpacks it.
    build.onLoad({ filter: /\.ttf$/ }, async ({ path }) => ({
      contents: Bun.gzipSync(await Bun.file(path).bytes(), { level: 9 }),
      loader: "file",
    }));
    build.onLoad({ filter: /\/proteins\.fasta$/ }, async ({ path }) => {
      const packed = Bun.gzipSync(await Bun.file(path).bytes(), { level: 9 }).toBase64();
      return {
        contents: `export default new TextDecoder().decode(Bun.gunzipSync(Uint8Array.fromBase64("${packed}")));`,
        loader: "js",
      };
    });
  },
};
