import { encodeSymbol, qrMatrix } from "../../platform/qr-code.ts";
import type { Label } from "./label.ts";

/** Loaded on demand, because the encoders of symbols take megabytes. */

export type Symbology = "qr" | "code128";

/** Modules of quiet zone on each side: ISO/IEC 18004, section 6.3.8, and ISO/IEC 15417, section 4.2. */
export const QUIET_ZONE = { qr: 4, code128: 10 } as const;

/** A symbol in modules, without its quiet zones: its width, and the runs of dark modules in rows, or its bars. */
interface Encoded {
  width: number;
  runs: readonly Record<"x" | "y" | "width", number>[];
}

/** Known symbols: encoding one takes longer than printing the rest of a label. */
const KNOWN = { qr: new WeakMap<Label, Encoded>(), code128: new WeakMap<Label, Encoded>() };

/** The symbol of a label. */
export function encode(label: Label, symbol: Symbology): Encoded {
  const known = KNOWN[symbol].get(label);
  if (known) return known;
  const encoded = symbol === "qr" ? encodeQr(label.address) : encodeBars(label.bars);
  KNOWN[symbol].set(label, encoded);
  return encoded;
}

function encodeBars(text: string): Encoded {
  let x = 0;
  // Widths of bars and spaces, starting with a bar.
  const widths = encodeSymbol({ bcid: "code128", text }).sbs!;
  const places = widths.map((width) => ({ x: (x += width) - width, y: 0, width }));
  return { width: x, runs: places.filter((_, i) => i % 2 === 0) };
}

function encodeQr(text: string): Encoded {
  const { size, dark } = qrMatrix(text);
  const runs: { x: number; y: number; width: number }[] = [];
  for (let y = 0; y < size; y++)
    for (let x = 0; x < size; x++) {
      if (!dark(x, y)) continue;
      const from = x;
      while (x < size && dark(x, y)) x++;
      runs.push({ x: from, y, width: x - from });
    }
  return { width: size, runs };
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
