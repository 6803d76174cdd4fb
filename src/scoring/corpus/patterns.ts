import { didYouMean, parsePattern, PatternError, type PatternRequest } from "../../motif/index.ts";
import { Problem } from "../../problem.ts";
import type { MotifClasses } from "./motif-classes.ts";

/**
 * Expressions and motif classes as patterns, in this order. Checked on submission, so that an invalid pattern is an error
 * of the request instead of a job that fails later.
 * @throws Problem invalid_pattern with the number of the expression and the position in it; unknown_motif_class
 */
export function readPatterns(
  expressions: readonly string[],
  names: readonly string[],
  classes: MotifClasses,
): PatternRequest[] {
  const patterns = expressions.flatMap((expression, i): PatternRequest[] => {
    if (expression.trim() === "") return [];
    check(expression, `regularExpression ${i + 1}`);
    return [{ expression, name: null, dialect: "soap" }];
  });
  const named = names.flatMap((name, i): PatternRequest[] => {
    if (name === "") return [];
    const { expression, dialect } = find(classes, name, `elmIdentifierName ${i + 1}`);
    return [{ expression, name, dialect }];
  });
  return [...patterns, ...named];
}

function check(expression: string, where: string): void {
  try {
    parsePattern(expression, "soap");
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    const text = `${where}, character ${error.position + 1}: ${error.message}${didYouMean(expression)}`;
    throw new Problem("invalid_pattern", text, { cause: error });
  }
}

function find(classes: MotifClasses, name: string, where: string): ReturnType<MotifClasses["find"]> {
  try {
    return classes.find(name);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw new Problem(error.code, `${where}: ${error.message}`, { cause: error });
  }
}
