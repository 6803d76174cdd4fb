/**
 * A quadratic spline: how much a term contributes to z, depending on its value. Constant beyond `low` and `high`,
 * where training data end.
 */
export interface Shape {
  low: number;
  high: number;
  knots: readonly number[];
  /** Coefficients of 1, x and x², then of (x − knot)² above each knot. */
  coefficients: readonly number[];
}

/** Powers of x whose weighted sum is the spline, in the order of the coefficients. */
export function splineBasis({ low, high, knots }: Omit<Shape, "coefficients">, value: number): number[] {
  const x = Math.min(high, Math.max(low, value));
  return [1, x, x * x, ...knots.map((knot) => Math.max(0, x - knot) ** 2)];
}

export function shapeAt(shape: Shape, value: number): number {
  return splineBasis(shape, value).reduce((sum, power, i) => sum + power * shape.coefficients[i], 0);
}
