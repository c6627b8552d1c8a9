import { InvalidArgumentError } from '@commander-js/extra-typings';

/** Reads the value of an option that takes a whole number within bounds. */
export function wholeNumber({ min, max = Number.MAX_SAFE_INTEGER }: { min: number; max?: number }) {
  return (text: string): number => {
    const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (number >= min && number <= max) return number;
    throw new InvalidArgumentError(
      max === Number.MAX_SAFE_INTEGER
        ? `It must be a whole number from ${min}.`
        : `It must be a whole number from ${min} to ${max}.`,
    );
  };
}
