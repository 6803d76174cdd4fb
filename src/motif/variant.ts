import { STANDARD } from "./alphabet.ts";
import { THREE_LETTER_CODES } from "./protein-text.ts";

/** Variants of a protein: substitutions of its residues. */

/** A text that is no variant of the protein; the message says why. */
export class VariantError extends Error {
  override readonly name = "VariantError";
}

interface Substitution {
  reference: string;
  /** Residue, from 1. */
  position: number;
  alternative: string;
}

/**
 * Splits a list at commas, semicolons, white space and lines. Lines of position, reference and alternative, as in VCF, stay
 * whole, and lines that start with # are left out.
 */
export const listVariants = (text: string): string[] =>
  text
    .replaceAll(/^#.*$/gm, "")
    .split(/[\r\n,;]+/)
    .map((part) => part.trim().replaceAll(/\s*\+\s*/g, "+"))
    .filter((part) => part !== "")
    .flatMap((part) => (/^\d+\s/.test(part) ? part : part.split(/\s+/)));

/**
 * Reads a variant of a protein: `W23A`, `p.Trp23Ala` (HGVS) or `23 W A`, and several at once joined by +.
 * @returns the substitutions by position, such as `F19A+W23A`
 * @throws VariantError for a text that is no substitution, and for another residue in the protein
 */
export function readVariant(text: string, protein: string): string {
  const changes = text.split("+").map((part) => readSubstitution(part.trim()));
  for (const { position, reference, alternative } of changes) {
    const residue = protein[position - 1]?.toUpperCase();
    const name = `${reference}${position}${alternative}`;
    if (residue === undefined) throw new VariantError(`${name}: the protein has ${protein.length} residues.`);
    if (residue !== reference)
      throw new VariantError(`${name}: residue ${position} is ${residue}, not ${reference}.`);
  }
  const sorted = changes.toSorted((a, b) => a.position - b.position);
  const twice = sorted.find(({ position }, i) => sorted[i + 1]?.position === position);
  if (twice) throw new VariantError(`${text}: residue ${twice.position} is changed twice.`);
  return sorted.map(({ reference, position, alternative }) => reference + position + alternative).join("+");
}

function readSubstitution(text: string): Substitution {
  const vcf = /^(\d+)\s+([a-z])\s+([a-z])$/i.exec(text);
  const [, reference, position, alternative] = vcf
    ? ["", vcf[2], vcf[1], vcf[3]]
    : (/^(?:p\.)?\(?([a-z]|[a-z]{3})(\d+)([a-z]|[a-z]{3})\)?$/i.exec(text) ?? []);
  const letters = [reference, alternative].map(
    (residue = "") => THREE_LETTER_CODES.get(residue.toUpperCase()) ?? residue.toUpperCase(),
  );
  if (position === undefined || !letters.every((letter) => letter !== "" && STANDARD.includes(letter)))
    throw new VariantError(
      `"${text}" is no substitution. Expected W23A, p.Trp23Ala or 23 W A; several at once as F19A+W23A.`,
    );
  return { reference: letters[0], position: Number(position), alternative: letters[1] };
}

/** The protein with the substitutions of a variant that `readVariant` returned. */
export const applyVariant = (protein: string, variant: string): string =>
  substitute(protein, variant, ({ alternative }) => alternative);

/** The protein of which a sequence is a variant; the sequence itself without one. */
export const revertVariant = (sequence: string, variant = ""): string =>
  substitute(sequence, variant, ({ reference }) => reference);

function substitute(sequence: string, variant: string, pick: (change: Substitution) => string): string {
  const letters = [...sequence];
  const changes = variant === "" ? [] : variant.split("+").map(readSubstitution);
  for (const change of changes) letters[change.position - 1] = pick(change);
  return letters.join("");
}
