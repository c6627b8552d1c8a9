import { groupDigits } from '../../shared/text/group-digits.ts';

/** `812 ms`, `1.94 s`, `12.4 s`, `2 m 05 s`. */
export function durationText(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return '';
  if (ms < 0.05) return '<0.1 ms';
  if (ms < 1) return `${ms.toFixed(1)} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 9.995) return `${seconds.toFixed(2)} s`;
  if (seconds < 99.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)} m ${String(whole % 60).padStart(2, '0')} s`;
}

/** `940`, `1,204`, `44.2k`, `1.3M` */
export function countText(count: number): string {
  if (count < 10_000) return groupDigits(String(count));
  if (count < 999_500) return `${(count / 1000).toFixed(count < 99_950 ? 1 : 0)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

/** An amount as it is read quickly: `$31.20`, `$0.0312`, `$0.000045`. The exact one belongs into a title. */
export function usdText(usd: string | null | undefined): string {
  if (usd === null || usd === undefined) return 'unknown';
  const amount = Number(usd);
  if (amount === 0) return '$0';
  const size = Math.abs(amount);
  if (size >= 1) return `$${amount.toFixed(2)}`;
  if (size >= 0.001) return `$${amount.toFixed(4)}`;
  return `$${amount.toFixed(Math.min(9, 1 - Math.floor(Math.log10(size))))}`;
}

/** `24 Nov 12:04:11`; without the day for one of today. `timeZone` is undefined for the local one. */
export function timeText(at: number, now: number, timeZone: string | undefined): string {
  const time = formatted(at, timeZone, timeParts);
  const day = formatted(at, timeZone, dayParts);
  return day === formatted(now, timeZone, dayParts) ? time : `${day} ${time}`;
}

/** With the date, the milliseconds and the zone. */
export function exactTimeText(at: number, timeZone: string | undefined): string {
  return formatted(at, timeZone, exactParts);
}

const timeParts = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const;
const dayParts = { day: 'numeric', month: 'short' } as const;
const exactParts = {
  ...timeParts,
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  fractionalSecondDigits: 3,
  timeZoneName: 'short',
} as const;

const formats = new Map<string, Intl.DateTimeFormat>();

function formatted(at: number, timeZone: string | undefined, parts: Intl.DateTimeFormatOptions): string {
  const key = `${timeZone} ${Object.keys(parts).join()}`;
  let format = formats.get(key);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-GB', { ...parts, ...(timeZone !== undefined && { timeZone }) });
    formats.set(key, format);
  }
  return format.format(at);
}

/** Tokens a second of the answer; undefined where too little is known. */
export function tokenRate(call: {
  tokens: { output: number };
  timings: { first_token_ms: number | null; total_ms: number };
}): number | undefined {
  const { first_token_ms: first, total_ms: total } = call.timings;
  if (first === null || call.tokens.output < 2 || total - first < 1) return undefined;
  return (call.tokens.output * 1000) / (total - first);
}
