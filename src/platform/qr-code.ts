import bwip, { type RenderOptions } from "bwip-js/generic";

/** The modules of a QR code. */
export interface Matrix {
  /** Modules along a side. */
  size: number;
  dark(x: number, y: number): boolean;
}

type Raw = { pixs?: number[]; pixx?: number; sbs?: number[] }[];

/** The symbol that bwip-js makes of a text: modules of two dimensions (`pixs`, `pixx` along a side), or widths of bars (`sbs`). */
export const encodeSymbol = (options: object): Raw[number] =>
  (bwip.raw(options as RenderOptions) as unknown as Raw)[0];

/** A QR code that stays readable with 15 % of it gone (level M). */
export function qrMatrix(text: string): Matrix {
  const { pixs, pixx } = encodeSymbol({ bcid: "qrcode", text, eclevel: "M" });
  const size = pixx!;
  return { size, dark: (x, y) => pixs![y * size + x] === 1 };
}
