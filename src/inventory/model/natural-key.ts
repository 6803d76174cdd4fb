const DIGITS = "'0123456789'";

const removeDigits = (text: string): string =>
  [..."0123456789"].reduce((left, digit) => `replace(${left}, '${digit}', '')`, text);

/** The digits at the start of `rest`, without leading zeros. */
const NUMBER = `ltrim(substr(rest, 1, length(rest) - length(ltrim(rest, ${DIGITS}))), '0')`;
const LETTERS = "substr(rest, 1, length(rest) - length(ltrim(rest, letters)))";

/**
 * A SQL expression by which texts are ordered as people order them, with 2 before 10: each number is preceded by its
 * count of digits. A step takes the letters at the start of the rest, or its number.
 */
export const naturalKey = (text: string): string =>
  `(WITH RECURSIVE natural(rest, letters, key, at_number) AS (SELECT ${text}, ${removeDigits(text)}, '', 0` +
  ` UNION ALL SELECT ltrim(rest, CASE at_number WHEN 0 THEN letters ELSE ${DIGITS} END), letters,` +
  ` key || CASE at_number WHEN 0 THEN ${LETTERS} ELSE printf('%03d', length(${NUMBER})) || ${NUMBER} END,` +
  " 1 - at_number FROM natural WHERE rest <> '') SELECT key FROM natural WHERE rest = '')";
