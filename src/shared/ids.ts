/**
 * Identifiers are `<prefix>_` followed by 26 characters of Crockford base 32: 48 bits of milliseconds, then 80 random
 * bits, so that they sort by time. The prefix names the kind of object.
 */
export const idPrefixes = [
  'resp',
  'req',
  'msg',
  'fc',
  'ctc',
  'rs',
  'ig',
  'cmp',
  'dec',
  'key',
  'ws',
  'usr',
  'agt',
  'th',
  'run',
  'pay',
  'inv',
  'pw',
  'tok',
  'evt',
  'call',
  'chatcmpl',
  'entry',
  'invite',
  'acct',
  'grant',
  'ap',
  'wal',
  'dep',
] as const;

export type IdPrefix = (typeof idPrefixes)[number];

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

/** Generates ids from a clock (milliseconds) and a source of random bytes. */
export function idMaker(now: () => number, randomBytes: (count: number) => Uint8Array) {
  // Random bytes are drawn in bulk: drawing them for each id would cost more than the rest of it.
  let pool: Uint8Array = new Uint8Array(0);
  let used = 0;
  let timeMs = -1;
  let timeText = '';
  return (prefix: IdPrefix): string => {
    if (used + 16 > pool.length) {
      pool = randomBytes(1024);
      used = 0;
    }
    const at = now();
    if (at !== timeMs) {
      timeMs = at;
      timeText = encodeTime(at);
    }
    let random = '';
    for (let i = 0; i < 16; i += 1) random += alphabet[(pool[used + i] ?? 0) & 31];
    used += 16;
    return `${prefix}_${timeText}${random}`;
  };
}

export type MakeId = ReturnType<typeof idMaker>;

function encodeTime(ms: number): string {
  let text = '';
  let rest = ms;
  for (let i = 0; i < 10; i += 1) {
    text = alphabet[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}
