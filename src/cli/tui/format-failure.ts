import { type ExplainOptions, explain } from '../explain.ts';

/** A failure in one line: what went wrong, then what to do next. */
export function formatFailure(error: unknown, options: ExplainOptions): string {
  const { sentence, details } = explain(error, options);
  const next = details.filter(([name]) => name === 'next').map(([, text]) => text);
  const whole = /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
  return [whole, ...next].join(' ');
}
