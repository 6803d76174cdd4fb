import { encodeSymbol, qrMatrix } from "../../platform/qr-code.ts";
import type { Label } from "./label.ts";

/** Loaded on demand, because the encoders of symbols take megabytes. */

export type Symbology = "qr" | "code128";

/** Modules of quiet zone on each side: ISO/IEC 18004, section 6.3.8, and ISO/IEC 15417, section 4.2. */
export const QUIET_ZONE = { qr: 4, code128: 10 } as const;

/** Widths of bars and spaces in modules, starting with a bar. */
const code128Widths = (text: string): readonly number[] => encodeSymbol({ bcid: "code128", text }).sbs!;

/** Runs of dark modules, in modules: rows of a QR code, or bars. */
export function* darkRuns({ symbol, text }: { symbol: Symbology; text: string }) {
  if (symbol === "code128") {
    let x = 0;
    for (const [i, width] of code128Widths(text).entries()) {
      if (i % 2 === 0) yield { x, y: 0, width };
      x += width;
    }
    return;
  }
  const { size, dark } = qrMatrix(text);
  for (let y = 0; y < size; y++)
    for (let x = 0; x < size; x++) {
      if (!dark(x, y)) continue;
      const from = x;
      while (x < size && dark(x, y)) x++;
      yield { x: from, y, width: x - from };
    }
}

/** Known widths of symbols: encoding one takes longer than printing the rest of a label. */
const WIDTHS = { qr: new WeakMap<Label, number>(), code128: new WeakMap<Label, number>() };

/** Width of the symbol of a label, in modules, without quiet zones. */
export function countModules(label: Label, symbol: Symbology): number {
  const known = WIDTHS[symbol].get(label);
  if (known !== undefined) return known;
  const width =
    symbol === "qr"
      ? qrMatrix(label.address).size
      : code128Widths(label.bars).reduce((sum, each) => sum + each, 0);
  WIDTHS[symbol].set(label, width);
  return width;
}

/** Maximum module width in millimetres. */
const WIDEST = { qr: 0.7, code128: 0.5 };

/**
 * Width of a module on a label, in millimetres: as wide as the label allows with quiet zones and, beside a QR code, room
 * for text.
 */
export function computeModuleSize(
  label: { width: number; height: number },
  symbol: Symbology,
  count: number,
): number {
  const whole = count + 2 * QUIET_ZONE[symbol];
  const room = symbol === "qr" ? Math.min(label.height, label.width * 0.55) : label.width;
  return Math.min(room / whole, WIDEST[symbol]);
}
