import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { prepareZXingModule, readBarcodes } from "zxing-wasm/reader";
import { encodeSymbol } from "../../src/platform/qr-code.ts";
import { ZXING_FORMATS } from "../../src/web/inventory/camera.ts";

const WASM = createRequire(import.meta.url).resolve("zxing-wasm/reader/zxing_reader.wasm");
const SIDE = 400;

/** A frame of the camera with a symbol in its middle. */
function makeFrame(bcid: string, text: string): ImageData {
  const { pixs, pixx, sbs } = encodeSymbol({ bcid, text });
  const bars = (sbs ?? []).flatMap((width, i) => Array<number>(width).fill(i % 2 === 0 ? 1 : 0));
  const width = pixx ?? bars.length;
  const dark = (x: number, y: number) => (pixs ? pixs[y * width + x] : bars[x]) === 1;
  const scale = pixs ? 8 : 2;
  const height = pixs ? pixs.length / width : 50;
  const data = new Uint8ClampedArray(SIDE * SIDE * 4).fill(255);
  const [left, top] = [width, height].map((length) => (SIDE - length * scale) >> 1);
  for (let y = 0; y < height * scale; y++)
    for (let x = 0; x < width * scale; x++)
      if (dark(Math.floor(x / scale), Math.floor(y / scale)))
        data.fill(0, ((top + y) * SIDE + left + x) * 4, ((top + y) * SIDE + left + x) * 4 + 3);
  return { data, width: SIDE, height: SIDE, colorSpace: "srgb" } as ImageData;
}

test.each(["qrcode", "code128", "datamatrix"])("the camera reads a symbol of the kind %s", async (bcid) => {
  prepareZXingModule({ overrides: { wasmBinary: readFileSync(WASM).buffer as ArrayBuffer } });
  const found = await readBarcodes(makeFrame(bcid, "CO0000006"), { formats: [...ZXING_FORMATS] });
  expect(found.map(({ text }) => text)).toEqual(["CO0000006"]);
});
