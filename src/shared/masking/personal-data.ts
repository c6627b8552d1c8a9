import type { RedactionKind } from './redaction-kinds.ts';

const cardDigitsMin = 13;
const cardDigitsMax = 19;

const forms: Readonly<Record<RedactionKind, RegExp>> = {
  email: /(?<![\w.%+-])[\w.%+-]+@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8}/gi,
  card: /(?<![\w.])\d(?:[ -]?\d){12,18}(?![\w]|\.\d)/g,
  // With the country, or in groups of three, three and four digits.
  phone: /(?<![\w.])(?:\+\d(?:[ ./()-]{0,2}\d){7,14}|\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4})(?!\w)/g,
};

/** A text in which data of these kinds is replaced by what `replace` returns for each. */
export function withoutPersonalData(
  text: string,
  kinds: readonly RedactionKind[],
  replace: (kind: RedactionKind, found: string) => string,
): string {
  let clean = text;
  for (const kind of kinds) {
    clean = clean.replace(forms[kind], (match) => {
      if (kind === 'card' && !isCardNumber(match)) return match;
      return replace(kind, match);
    });
  }
  return clean;
}

/** By its length and its check digit (Luhn). */
function isCardNumber(text: string): boolean {
  const digits = text.replace(/\D/g, '');
  if (digits.length < cardDigitsMin || digits.length > cardDigitsMax) return false;
  let sum = 0;
  for (let at = 0; at < digits.length; at++) {
    const digit = Number(digits[digits.length - 1 - at]);
    const counted = at % 2 === 1 ? digit * 2 : digit;
    sum += counted > 9 ? counted - 9 : counted;
  }
  return sum % 10 === 0 && /[1-9]/.test(digits);
}
