import { InvalidArgumentError } from '@commander-js/extra-typings';

/** Reads the value of an option that takes a UTC day or time; whether there is such a day, the daemon says. */
export function timeBound(text: string): string {
  if (/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?Z)?$/.test(text)) return text;
  throw new InvalidArgumentError('It must be like 2026-11-01 or 2026-11-01T08:00:00Z.');
}
