/** Dollars as the service writes them → `$0.000123`; what nobody knows is said, never shown as 0. */
export function dollars(usd: string | null | undefined): string {
  if (usd === null || usd === undefined) return 'unknown';
  return usd.startsWith('-') ? `-$${usd.slice(1)}` : `$${usd}`;
}

/** `1234567` → `1,234,567`. */
export function count(number: number): string {
  return String(number).replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}

/** As `count`, but from 10,000 on as `12.3k` and `4.5M`, where there is little room. */
export function briefCount(number: number): string {
  if (number < 10_000) return count(number);
  const [part, unit] = number < 999_950 ? [number / 1e3, 'k'] : [number / 1e6, 'M'];
  return `${part.toFixed(part < 99.95 ? 1 : 0)}${unit}`;
}
