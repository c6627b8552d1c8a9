import { createHmac } from 'node:crypto';
import type { NodeMove } from '../lightning/index.ts';
import type { WalletRecord } from './store.ts';

const halfBytes = 16;

/**
 * Says in a node's history whose a payment or receipt is: by a text, or, where only the preimage of an invoice can be chosen,
 * by that. Without the data key, such a preimage is random.
 */
export class WalletMarks {
  readonly #key: Buffer;
  readonly #randomBytes: (count: number) => Uint8Array;

  /** `dataKey`: 32 bytes. */
  constructor(dataKey: Uint8Array, randomBytes: (count: number) => Uint8Array) {
    this.#key = createHmac('sha256', dataKey).update('gateway wallet marks').digest();
    this.#randomBytes = randomBytes;
  }

  /** The identity is that of the words, so that it is known again wherever they are imported. */
  markOf({ nodeId }: Pick<WalletRecord, 'nodeId'>): string {
    return `gateway-wallet-${nodeId}`;
  }

  /** A new preimage: 16 random bytes, and the wallet's tag hidden by what they give with the key. */
  preimageFor(wallet: Pick<WalletRecord, 'nodeId'>): Uint8Array {
    const random = this.#randomBytes(halfBytes);
    return Buffer.concat([random, exclusiveOr(this.#tagOf(wallet), this.#padOf(random))]);
  }

  /** Finds the wallet that received or paid. */
  finderIn<W extends Pick<WalletRecord, 'nodeId'>>(wallets: readonly W[]): (move: NodeMove) => W | undefined {
    const byMark = new Map(wallets.map((wallet) => [this.markOf(wallet), wallet]));
    const byTag = new Map(wallets.map((wallet) => [this.#tagOf(wallet).toString('hex'), wallet]));
    return ({ kind, mark, preimage }) => {
      if (mark !== undefined) return byMark.get(mark);
      // The payee chose the preimage of a payment.
      if (kind === 'payment' || preimage?.length !== 2 * halfBytes) return undefined;
      const pad = this.#padOf(preimage.subarray(0, halfBytes));
      return byTag.get(exclusiveOr(preimage.subarray(halfBytes), pad).toString('hex'));
    };
  }

  #tagOf({ nodeId }: Pick<WalletRecord, 'nodeId'>): Buffer {
    return this.#hash(`wallet|${nodeId}`);
  }

  #padOf(random: Uint8Array): Buffer {
    return this.#hash(Buffer.concat([Buffer.from('pad|'), random]));
  }

  #hash(content: string | Uint8Array): Buffer {
    return createHmac('sha256', this.#key).update(content).digest().subarray(0, halfBytes);
  }
}

function exclusiveOr(some: Uint8Array, others: Uint8Array): Buffer {
  return Buffer.from(some.map((byte, index) => byte ^ (others[index] as number)));
}
