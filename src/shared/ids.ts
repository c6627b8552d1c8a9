/**
 * Identifiers are `<prefix>_` followed by 26 characters of Crockford base 32: 48 bits of milliseconds, a counter of
 * 20 bits that starts at a random value each millisecond, and 60 random bits. The ids of one process sort by creation.
 */
const idPrefixes = [
  'resp',
  'req',
  'msg',
  'fc',
  'ctc',
  'tsc',
  'sh',
  'lsh',
  'apc',
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
  'firing',
] as const;

export type IdPrefix = (typeof idPrefixes)[number];

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const timeChars = 10;
const counterChars = 4;

/** Generates ids from a clock (milliseconds) and a source of random bytes. */
export function idMaker(now: () => number, randomBytes: (count: number) => Uint8Array) {
  // Random bytes are drawn in bulk: drawing them for each id would cost more than the rest of it.
  let pool: Uint8Array = new Uint8Array(0);
  let used = 0;
  let timeMs = -1;
  let timeText = '';
  let counter = 0;
  return (prefix: IdPrefix): string => {
    if (used + 16 > pool.length) {
      pool = randomBytes(8192);
      used = 0;
    }
    const at = now();
    if (at === timeMs) counter += 1;
    else {
      timeMs = at;
      timeText = encode(at, timeChars);
      // The first bit is left to grow into.
      counter = (((pool[used] ?? 0) & 7) << 16) | ((pool[used + 1] ?? 0) << 8) | (pool[used + 2] ?? 0);
    }
    let random = '';
    for (let i = 4; i < 16; i += 1) random += alphabet[(pool[used + i] ?? 0) & 31];
    used += 16;
    return `${prefix}_${timeText}${encode(counter, counterChars)}${random}`;
  };
}

export type MakeId = ReturnType<typeof idMaker>;

function encode(value: number, chars: number): string {
  let text = '';
  let rest = value;
  for (let i = 0; i < chars; i += 1) {
    text = alphabet[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}
