import { explain } from '../failure.ts';

/** A failure in a line: what is wrong, and what to do next. */
export function told(error: unknown, { isLocal }: { isLocal: boolean }): string {
  const { sentence, details } = explain(error, { isLocal });
  const next = details.filter(([name]) => name === 'next').map(([, text]) => text);
  const whole = /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
  return [whole, ...next].join(' ');
}
