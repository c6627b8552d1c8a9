import { ApiError } from '../../../shared/errors.ts';
import type { HttpLimits } from './limits.ts';

/** Smaller bodies do not count, as thousands of them fit into memory. */
const largeBytesMin = 16 * 1024;
/** Clients rarely send more, and a few such bodies take more memory than all others. */
const hugeBytesMin = 4 * 1024 * 1024;

/** What holds a body. */
interface Holder {
  /** What its body counts, in bytes. */
  bodyBytes: number;
}

type Limits = Pick<HttpLimits, 'largeBodiesBytesMax' | 'hugeBodiesBytesMax'>;

const noLimits: Limits = {
  largeBodiesBytesMax: Number.POSITIVE_INFINITY,
  hugeBodiesBytesMax: Number.POSITIVE_INFINITY,
};

/**
 * Bounds what the large bodies of running requests take together: each needs several times its size until its answer begins,
 * and a process that has no more memory ends with all its calls.
 */
export class LargeBodies {
  readonly #limits: Limits;
  #bytes = 0;
  #hugeBytes = 0;

  /** Without limits, everything fits. */
  constructor(limits: Limits = noLimits) {
    this.#limits = limits;
  }

  /** Counts a body of that size, or what is known of it. Fails with `unavailable` if others leave too little; a single one always fits. */
  hold(holder: Holder, bytes: number): void {
    if (!(bytes >= largeBytesMin && bytes > holder.bodyBytes)) return;
    const { largeBodiesBytesMax, hugeBodiesBytesMax } = this.#limits;
    const others = this.#bytes - holder.bodyBytes;
    const hugeOthers = this.#hugeBytes - hugeBytesOf(holder.bodyBytes);
    const hugeBytes = hugeBytesOf(bytes);
    const isTooMuch = others > 0 && others + bytes > largeBodiesBytesMax;
    const isTooHuge = hugeBytes > 0 && hugeOthers > 0 && hugeOthers + hugeBytes > hugeBodiesBytesMax;
    if (isTooMuch || isTooHuge) {
      throw new ApiError('unavailable', {
        message: 'Other large requests need the memory of the daemon. Try again in a moment.',
        retryAfterSeconds: 2,
      });
    }
    this.#bytes = others + bytes;
    this.#hugeBytes = hugeOthers + hugeBytes;
    holder.bodyBytes = bytes;
  }

  free(holder: Holder): void {
    this.#bytes -= holder.bodyBytes;
    this.#hugeBytes -= hugeBytesOf(holder.bodyBytes);
    holder.bodyBytes = 0;
  }
}

function hugeBytesOf(bytes: number): number {
  return bytes >= hugeBytesMin ? bytes : 0;
}
