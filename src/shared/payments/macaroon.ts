/**
 * The binary format of macaroons of version 2 with first-party caveats. Source: libmacaroons `doc/format.txt`.
 */
export interface Macaroon {
  identifier: Uint8Array;
  /** Conditions, oldest first. */
  caveats: string[];
  /** 32 bytes. */
  signature: Uint8Array;
}

const version = 2;
const fields = { end: 0, location: 1, identifier: 2, verification: 4, signature: 6 } as const;
const signatureBytes = 32;
/** Tokens travel in a header. */
const bytesMax = 4096;

export function encodeMacaroon({ identifier, caveats, signature }: Macaroon): Buffer {
  const end = Buffer.of(fields.end);
  return Buffer.concat([
    Buffer.of(version),
    field(fields.identifier, identifier),
    end,
    ...caveats.flatMap((caveat) => [field(fields.identifier, Buffer.from(caveat)), end]),
    end,
    field(fields.signature, signature),
  ]);
}

function field(type: number, data: Uint8Array): Buffer {
  return Buffer.concat([Buffer.of(type), varint(data.length), data]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 0x7f) {
    bytes.push((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  return Buffer.of(...bytes, rest);
}

/** Undefined for anything else than a macaroon of version 2 whose caveats are all first-party. */
export function decodeMacaroon(bytes: Uint8Array): Macaroon | undefined {
  if (bytes.length > bytesMax || bytes[0] !== version) return undefined;
  const reader = new FieldReader(bytes.subarray(1));
  const header = reader.section();
  const identifier = header?.get(fields.identifier);
  if (identifier === undefined) return undefined;
  const caveats: string[] = [];
  for (;;) {
    const section = reader.section();
    if (section === undefined || section.has(fields.verification)) return undefined;
    if (section.size === 0) break;
    const caveat = section.get(fields.identifier);
    if (caveat === undefined) return undefined;
    const text = Buffer.from(caveat).toString();
    // A condition that is not UTF-8 would be signed in another form.
    if (!Buffer.from(text).equals(caveat)) return undefined;
    caveats.push(text);
  }
  const last = reader.field();
  if (last?.type !== fields.signature || last.data.length !== signatureBytes || !reader.isAtEnd)
    return undefined;
  return { identifier, caveats, signature: last.data };
}

class FieldReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  /** The fields up to the end marker, which must ascend. */
  section(): Map<number, Uint8Array> | undefined {
    const found = new Map<number, Uint8Array>();
    let before = 0;
    for (;;) {
      if (this.#bytes[this.#at] === fields.end) {
        this.#at += 1;
        return found;
      }
      const next = this.field();
      if (next === undefined || next.type <= before) return undefined;
      before = next.type;
      found.set(next.type, next.data);
    }
  }

  field(): { type: number; data: Uint8Array } | undefined {
    const type = this.#varint();
    const length = this.#varint();
    if (type === undefined || length === undefined || this.#at + length > this.#bytes.length)
      return undefined;
    const data = this.#bytes.subarray(this.#at, this.#at + length);
    this.#at += length;
    return { type, data };
  }

  #varint(): number | undefined {
    let value = 0;
    for (let shift = 0; shift <= 21; shift += 7) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) return undefined;
      this.#at += 1;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return undefined;
  }
}
