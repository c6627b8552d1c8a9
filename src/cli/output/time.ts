const units: [string, number][] = [
  ['year', 365 * 86_400],
  ['month', 30 * 86_400],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
];

/** Formats a time as `3 minutes ago`; `now` in milliseconds since 1970. */
export function ago(iso: string | null | undefined, now: number): string {
  if (!iso) return 'never';
  const seconds = Math.round((now - Date.parse(iso)) / 1000);
  if (Number.isNaN(seconds)) return iso;
  for (const [unit, length] of units) {
    const count = Math.floor(Math.abs(seconds) / length);
    if (count < 1) continue;
    const words = `${count} ${unit}${count === 1 ? '' : 's'}`;
    return seconds < 0 ? `in ${words}` : `${words} ago`;
  }
  return seconds < 0 ? 'in a moment' : 'just now';
}

/** Formats milliseconds as `850 ms`, `3.2 s`, `4 min 10 s`, `2 h 5 min`, `3 d 4 h`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** The local time of day: `08:54:15`. */
export function clockTime(iso: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso;
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(twoDigits).join(':');
}

/** The local day and time of day: `2026-11-23 08:54:15`. */
export function localTime(iso: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso;
  const day = [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(twoDigits).join('-');
  return `${day} ${clockTime(iso)}`;
}

/** A local time with its zone, for times to come: `Mon 2026-11-23 08:00 CET`. */
export function plannedTime(iso: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso;
  const part = (options: Intl.DateTimeFormatOptions, type: Intl.DateTimeFormatPartTypes) =>
    new Intl.DateTimeFormat('en-US', options).formatToParts(date).find((each) => each.type === type)?.value;
  const weekday = part({ weekday: 'short' }, 'weekday');
  const zone = part({ timeZoneName: 'short' }, 'timeZoneName');
  return `${weekday} ${localTime(iso).slice(0, -3)} ${zone}`;
}

const twoDigits = (part: number) => String(part).padStart(2, '0');
