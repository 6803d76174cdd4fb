import { expect, test } from "bun:test";
import { renderToString } from "preact-render-to-string";
import { PatternLogo } from "../../src/web/score/pattern-logo.tsx";

test("a pattern as a logo has letters, what is excluded, and how often", () => {
  const parts = ["F", "[^P]{3}", ".{2,3}", "[^PGD]", "[IL]{1,}"];
  const html = renderToString(<PatternLogo of={parts} label="F, then …" />);
  expect([...html.matchAll(/>([^<>]+)<\/text>/g)].map(([, text]) => text)).toEqual([
    "F",
    "≠P",
    "3×",
    "any",
    "2–3×",
    "≠…",
    "I",
    "L",
    "≥1×",
  ]);
  expect(html).toContain('aria-label="F, then …"');
});
