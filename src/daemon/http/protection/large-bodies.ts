import { ApiError } from '../../../shared/errors.ts';

/** Smaller bodies do not count, as thousands of them fit into memory. */
const largeBytesMin = 16 * 1024;

/** What holds a body. */
interface Holder {
  /** What its body counts, in bytes. */
  bodyBytes: number;
}

/**
 * Bounds what the large bodies of running requests take together: each needs several times its size until its answer begins,
 * and a process that has no more memory ends with all its calls.
 */
export class LargeBodies {
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Counts a body of that size, or what is known of it. Fails with `unavailable` if others leave too little; a single one always fits. */
  hold(holder: Holder, bytes: number): void {
    if (!(bytes >= largeBytesMin && bytes > holder.bodyBytes)) return;
    const others = this.#bytes - holder.bodyBytes;
    if (others > 0 && others + bytes > this.#bytesMax) {
      throw new ApiError('unavailable', {
        message: 'Other large requests need the memory of the daemon. Try again in a moment.',
        retryAfterSeconds: 2,
      });
    }
    this.#bytes = others + bytes;
    holder.bodyBytes = bytes;
  }

  free(holder: Holder): void {
    this.#bytes -= holder.bodyBytes;
    holder.bodyBytes = 0;
  }
}
