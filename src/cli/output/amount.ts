/** Dollars as the service writes them → `$0.000123`; what nobody knows is said, never shown as 0. */
export function dollars(usd: string | null | undefined): string {
  if (usd === null || usd === undefined) return 'unknown';
  return usd.startsWith('-') ? `-$${usd.slice(1)}` : `$${usd}`;
}

/** `1234567` → `1,234,567`. */
export function count(number: number): string {
  return String(number).replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}
