/*
 * Durations and ages as the CLI, the TUI and the page show them: three digits below a minute, then the two largest units.
 */

/** `0.6 ms`, `812 ms`, `1.94 s`, `12.4 s`, `2 min 5 s`, `2 h 5 min`, `3 d 4 h`; `–` where unknown. */
export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return '–';
  if (ms < 999.5) return `${milliseconds(ms)} ms`;
  if (ms < 9_995) return `${(ms / 1000).toFixed(2)} s`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return inUnits([minutes, 'min'], [seconds % 60, 's']);
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return inUnits([hours, 'h'], [minutes % 60, 'min']);
  return inUnits([Math.floor(hours / 24), 'd'], [hours % 24, 'h']);
}

/** Like `duration` in at most six characters, for columns of lines that come one by one: `12.4 s`, `125 s`, `2.8 h`. */
export function briefDuration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined || ms < 59_950) return duration(ms);
  const seconds = Math.round(ms / 1000);
  if (seconds < 10_000) return `${seconds} s`;
  const hours = seconds / 3600;
  return hours < 99.95 ? `${hours.toFixed(1)} h` : `${Math.round(hours / 24)} d`;
}

function milliseconds(ms: number): string {
  if (ms <= 0) return '0';
  if (ms < 0.05) return '<0.1';
  return ms < 0.95 ? ms.toFixed(1) : String(Math.round(ms));
}

/** A length that someone set, or the rest of a wait, without zeros: `250 ms`, `1.5 s`, `30 s`, `20 min`. */
export function span(ms: number): string {
  return ms >= 1_000 && ms < 60_000 ? `${Number((ms / 1_000).toPrecision(3))} s` : duration(ms);
}

type Part = [count: number, unit: string];

const inUnits = (first: Part, second: Part) =>
  [first, ...(second[0] === 0 ? [] : [second])].map((part) => part.join(' ')).join(' ');

/** One, several, seconds. Hours and minutes are short, as columns of lists are. */
const units: [one: string, several: string, seconds: number][] = [
  ['year', 'years', 365 * 86_400],
  ['month', 'months', 30 * 86_400],
  ['day', 'days', 86_400],
  ['h', 'h', 3600],
  ['min', 'min', 60],
];

/** How long ago a time is, `3 min ago`, or how far ahead, `in 2 h`; `now` in milliseconds since 1970. */
export function ago(at: string | number | null | undefined, now: number): string {
  if (at === null || at === undefined || at === '') return 'never';
  const seconds = Math.round((now - new Date(at).getTime()) / 1000);
  if (Number.isNaN(seconds)) return String(at);
  for (const [one, several, length] of units) {
    const count = Math.floor(Math.abs(seconds) / length);
    if (count < 1) continue;
    const words = `${count} ${count === 1 ? one : several}`;
    return seconds < 0 ? `in ${words}` : `${words} ago`;
  }
  return seconds < 0 ? 'in a moment' : 'just now';
}
