const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** `512 B`, `65.5 KiB`, `32 MiB`: in powers of 1024, as settings are. */
export function sizeText(bytes: number): string {
  let amount = bytes;
  let at = 0;
  while (amount >= 999.5 && at < units.length - 1) {
    amount /= 1024;
    at += 1;
  }
  const digits = at > 0 && amount < 99.95 ? 1 : 0;
  return `${Number(amount.toFixed(digits))} ${units[at]}`;
}
