/**
 * Layers of a recurrent network on rows of 32-bit floats, one row per residue. Every sum has a fixed order and the
 * exponential is ours, so that results are the same on every processor.
 */

/**
 * Rows of `outs` values, a multiple of 8, from rows of `ins` values, `stride` values apart (overlapping rows make a
 * convolution). `weights` has the biases, then a row per input. `count` is a multiple of 4.
 */
export function dense(
  x: usize,
  stride: i32,
  ins: i32,
  weights: usize,
  outs: i32,
  y: usize,
  count: i32,
): void {
  const step = (<usize>stride) << 2;
  const row = (<usize>outs) << 2;
  for (let i = 0; i < count; i += 4) {
    for (let o: usize = 0; o < row; o += 32) {
      let at = weights + o;
      const biasLow = v128.load(at);
      const biasHigh = v128.load(at, 16);
      let low0 = biasLow;
      let low1 = biasLow;
      let low2 = biasLow;
      let low3 = biasLow;
      let high0 = biasHigh;
      let high1 = biasHigh;
      let high2 = biasHigh;
      let high3 = biasHigh;
      let from = x;
      for (let k = 0; k < ins; k++) {
        at += row;
        const low = v128.load(at);
        const high = v128.load(at, 16);
        let value = v128.load32_splat(from);
        low0 = f32x4.add(low0, f32x4.mul(value, low));
        high0 = f32x4.add(high0, f32x4.mul(value, high));
        value = v128.load32_splat(from + step);
        low1 = f32x4.add(low1, f32x4.mul(value, low));
        high1 = f32x4.add(high1, f32x4.mul(value, high));
        value = v128.load32_splat(from + 2 * step);
        low2 = f32x4.add(low2, f32x4.mul(value, low));
        high2 = f32x4.add(high2, f32x4.mul(value, high));
        value = v128.load32_splat(from + 3 * step);
        low3 = f32x4.add(low3, f32x4.mul(value, low));
        high3 = f32x4.add(high3, f32x4.mul(value, high));
        from += 4;
      }
      let to = y + o;
      v128.store(to, low0);
      v128.store(to, high0, 16);
      to += row;
      v128.store(to, low1);
      v128.store(to, high1, 16);
      to += row;
      v128.store(to, low2);
      v128.store(to, high2, 16);
      to += row;
      v128.store(to, low3);
      v128.store(to, high3, 16);
    }
    x += 4 * step;
    y += 4 * row;
  }
}

/**
 * Adds to each of `count` rows of `width` values, a multiple of 4, the rows of `table` for the `span` codes around it:
 * a convolution of one-hot vectors. `codes` has span / 2 codes of padding on both sides; `table` has 32 rows per
 * place of the window.
 */
export function embed(codes: usize, span: i32, table: usize, width: i32, y: usize, count: i32): void {
  const row = (<usize>width) << 2;
  for (let i = 0; i < count; i++) {
    for (let k = 0; k < span; k++) {
      let from = table + (<usize>k * 32 + load<u8>(codes + <usize>k)) * row;
      for (let o: usize = 0; o < row; o += 16) {
        v128.store(y + o, f32x4.add(v128.load(y + o), v128.load(from + o)));
      }
    }
    codes += 1;
    y += row;
  }
}

/** e^x for -87 < x < 87: 2^n times a polynomial (Cephes, Moshier 1989). */
function exponential(x: v128): v128 {
  const limited = f32x4.max(f32x4.min(x, f32x4.splat(87)), f32x4.splat(-87));
  const n = f32x4.nearest(f32x4.mul(limited, f32x4.splat(Mathf.LOG2E)));
  let f = f32x4.sub(limited, f32x4.mul(n, f32x4.splat(0.693359375)));
  f = f32x4.add(f, f32x4.mul(n, f32x4.splat(2.1219444e-4)));
  let p = f32x4.splat(1.98756915e-4);
  p = f32x4.add(f32x4.mul(p, f), f32x4.splat(1.3981999507e-3));
  p = f32x4.add(f32x4.mul(p, f), f32x4.splat(8.3334519073e-3));
  p = f32x4.add(f32x4.mul(p, f), f32x4.splat(4.1665795894e-2));
  p = f32x4.add(f32x4.mul(p, f), f32x4.splat(1.6666665459e-1));
  p = f32x4.add(f32x4.mul(p, f), f32x4.splat(5.0000001201e-1));
  p = f32x4.add(f32x4.add(f32x4.mul(f32x4.mul(p, f), f), f), f32x4.splat(1));
  const power = i32x4.shl(i32x4.add(i32x4.trunc_sat_f32x4_s(n), i32x4.splat(127)), 23);
  return f32x4.mul(p, power);
}

function logistic(x: v128): v128 {
  const one = f32x4.splat(1);
  return f32x4.div(one, f32x4.add(one, exponential(f32x4.neg(x))));
}

/** Replaces `length` values, a multiple of 4, by 1 / (1 + e^-x). */
export function sigmoid(x: usize, length: i32): void {
  for (let end = x + ((<usize>length) << 2); x < end; x += 16) v128.store(x, logistic(v128.load(x)));
}

/** Adds max(0, y) to x, `length` values, a multiple of 4. */
export function addPositive(x: usize, y: usize, length: i32): void {
  const zero = f32x4.splat(0);
  for (let end = x + ((<usize>length) << 2); x < end; x += 16) {
    v128.store(x, f32x4.add(v128.load(x), f32x4.max(zero, v128.load(y))));
    y += 16;
  }
}

/**
 * Gated running means in both directions: h[i] = a h[i - 1] + (1 - a) c, with a the sigmoid of a gate. Rows of `gates`
 * have 4 x width values: gates of the forward and the backward pass, then values c of both. Rows of `h` have 2 x width.
 */
export function gatedMeans(gates: usize, width: i32, h: usize, count: i32): void {
  const row = (<usize>width) << 4;
  const half = row >> 1;
  const side = half >> 1;
  for (let o: usize = 0; o < side; o += 16) {
    let mean = f32x4.splat(0);
    for (let i: usize = 0; i < <usize>count; i++)
      mean = advance(gates + i * row + o, half, h + i * half + o, mean);
    mean = f32x4.splat(0);
    for (let i = <isize>count - 1; i >= 0; i--) {
      mean = advance(gates + <usize>i * row + side + o, half, h + <usize>i * half + side + o, mean);
    }
  }
}

function advance(gate: usize, half: usize, to: usize, mean: v128): v128 {
  const a = logistic(v128.load(gate));
  const c = v128.load(gate + half);
  const next = f32x4.add(f32x4.mul(a, mean), f32x4.mul(f32x4.sub(f32x4.splat(1), a), c));
  v128.store(to, next);
  return next;
}
