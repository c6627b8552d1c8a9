import { explain } from '../failures/explain.ts';

/** A failure in one line: what went wrong, then what to do next. */
export function formatFailure(error: unknown, { isLocal }: { isLocal: boolean }): string {
  const { sentence, details } = explain(error, { isLocal });
  const next = details.filter(([name]) => name === 'next').map(([, text]) => text);
  const whole = /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
  return [whole, ...next].join(' ');
}
