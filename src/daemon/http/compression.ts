import { promisify } from 'node:util';
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib';

/** Shorter bodies are sent as they are: they fit into a few packets, and nearly all model answers are shorter. */
export const compressedLengthMin = 16 * 1024;
/** Compressions at a time; further bodies are sent as they are, as the threads that compress have other work, too. */
const compressionsMax = 4;
/** Bodies of public pages that are kept compressed, in bytes before compression. */
const keptBytesMax = 8 * 1024 * 1024;

type Compress = (body: string | Uint8Array) => Promise<Buffer>;

const brotli = promisify(brotliCompress);
const zstd = promisify(zstdCompress);

/** The encodings that answers may have, best first. */
const encodings: Readonly<Record<string, Compress>> = {
  br: (body) => brotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  zstd: (body) => zstd(body),
  gzip: promisify(gzip),
};

/**
 * The best available encoding that a client accepts; undefined if there is none. `available` has the best first. Only those count that the header names, as `*` does not
 * show that a client can read them. Source: RFC 9110, section 12.5.3.
 */
export function acceptedEncoding(
  header: string | string[] | undefined,
  available: readonly string[] = Object.keys(encodings),
): string | undefined {
  if (header === undefined) return undefined;
  const weights = new Map<string, number>();
  for (const part of String(header).toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim());
    const weight = parameters.find((text) => text.startsWith('q='));
    weights.set(name, weight === undefined ? 1 : Number(weight.slice(2)) || 0);
  }
  const weightOf = (name: string) => weights.get(name) ?? 0;
  const [best] = available
    .filter((name) => weightOf(name) > 0 && weightOf(name) >= weightOf('identity'))
    .sort((a, b) => weightOf(b) - weightOf(a));
  return best;
}

/** Whether a body may be compressed: a text that no header excludes. `no-transform` marks bodies with secrets. */
export function isCompressible(headers: Readonly<Record<string, string>>): boolean {
  if (headers['content-encoding'] !== undefined) return false;
  if (headers['cache-control']?.includes('no-transform')) return false;
  return /^(text\/|application\/(json|javascript|xml)|image\/svg)/.test(headers['content-type'] ?? '');
}

interface Kept {
  body: string | Uint8Array;
  byEncoding: Map<string, Promise<Buffer>>;
}

/** Compresses bodies outside the main thread. */
export class Compression {
  /** The latest body of each public page, as these are the same for everyone. */
  readonly #kept = new Map<string, Kept>();
  #running = 0;

  /**
   * Resolves to the compressed body; undefined if it is to be sent as it is. `page` names a body that is the same for many
   * clients: it is compressed once.
   */
  async compress(
    body: string | Uint8Array,
    { encoding, page }: { encoding: string; page?: string | undefined },
  ): Promise<Buffer | undefined> {
    const kept = page === undefined ? undefined : this.#keep(page, body);
    const known = kept?.byEncoding.get(encoding);
    if (known) return await known.catch(() => undefined);
    const compress = encodings[encoding];
    if (compress === undefined || this.#running >= compressionsMax) return undefined;
    this.#running += 1;
    const compressing = compress(body);
    kept?.byEncoding.set(encoding, compressing);
    try {
      return await compressing;
    } catch {
      kept?.byEncoding.delete(encoding);
      return undefined;
    } finally {
      this.#running -= 1;
    }
  }

  #keep(page: string, body: string | Uint8Array): Kept | undefined {
    if (body.length > keptBytesMax) return undefined;
    const known = this.#kept.get(page);
    if (known && isSame(known.body, body)) return known;
    const kept = { body, byEncoding: new Map<string, Promise<Buffer>>() };
    this.#kept.set(page, kept);
    return kept;
  }
}

function isSame(one: string | Uint8Array, other: string | Uint8Array): boolean {
  if (typeof one === 'string' || typeof other === 'string') return one === other;
  return Buffer.from(one.buffer, one.byteOffset, one.byteLength).equals(other);
}
