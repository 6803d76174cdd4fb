/** Mean predicted disorder of a match, 0..1 with six decimals; null without a prediction, as in results of earlier versions. */
export function matchDisorder(
  disorder: readonly number[] | undefined,
  { start, end }: { start: number; end: number },
): number | null {
  const own = disorder?.slice(start - 1, end) ?? [];
  if (own.length === 0) return null;
  return Math.round((own.reduce((sum, value) => sum + value, 0) / own.length) * 1e6) / 1e6;
}
