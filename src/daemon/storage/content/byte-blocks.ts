import { freeMemory, ownMemory } from '../../runtime/own-memory.ts';

/** Of a block. The last piece in it keeps all of it. */
const blockBytesMin = 32 * 1024;
/** At most so many blocks have room for all: each is a region of memory of its own, of which a process has 65,530 on Linux. */
const blocksMax = 8_192;

interface Block {
  bytes: Uint8Array;
  /** Where the next piece goes. */
  end: number;
  /** How many pieces are left of which a part is here. */
  pieces: number;
  /** Where a piece that does not fit goes on. */
  next: Block | undefined;
}

/** Where a piece starts. */
export interface Piece {
  block: Block;
  start: number;
  length: number;
}

/**
 * Keeps pieces of bytes one after another in blocks, which are freed with their last piece. A buffer for each piece would take 300
 * bytes more, and leave holes in the memory of the process, which are as large as what is kept.
 */
export class ByteBlocks {
  #current: Block | undefined;
  #bytes = 0;
  #blockBytes = blockBytesMin;

  /** What the pieces take, with those that were removed from blocks that have others. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The most bytes that are to be kept. */
  setBytesMax(bytesMax: number): void {
    this.#blockBytes = Math.max(blockBytesMin, Math.ceil(bytesMax / blocksMax));
  }

  /** Copies the bytes. */
  add(bytes: Uint8Array): Piece {
    const { length } = bytes;
    const first = this.#blockWithRoom();
    const piece = { block: first, start: first.end, length };
    for (let from = 0; from < length; ) {
      const block = this.#blockWithRoom();
      const taken = bytes.subarray(from, from + block.bytes.length - block.end);
      block.bytes.set(taken, block.end);
      block.end += taken.length;
      block.pieces += 1;
      from += taken.length;
    }
    this.#bytes += length;
    return piece;
  }

  /** Valid until the piece is removed. */
  read(piece: Piece): Uint8Array {
    const { block, start, length } = piece;
    if (start + length <= block.end) return block.bytes.subarray(start, start + length);
    const parts = blocksOf(piece).map(({ bytes }, at) => (at === 0 ? bytes.subarray(start) : bytes));
    return Buffer.concat(parts, length);
  }

  remove(piece: Piece): void {
    for (const block of blocksOf(piece)) {
      block.pieces -= 1;
      if (block.pieces > 0) continue;
      this.#bytes -= block.end;
      block.end = 0;
      // Older blocks that stay would keep all later ones.
      block.next = undefined;
      if (block !== this.#current) freeMemory(block.bytes);
    }
  }

  #blockWithRoom(): Block {
    const current = this.#current;
    if (current && current.end < current.bytes.length) return current;
    const block = { bytes: ownMemory(this.#blockBytes), end: 0, pieces: 0, next: undefined };
    if (current) current.next = block;
    this.#current = block;
    return block;
  }
}

function blocksOf({ block: first, start, length }: Piece): Block[] {
  const blocks: Block[] = [];
  let covered = -start;
  for (let block: Block | undefined = first; block && covered < length; block = block.next) {
    blocks.push(block);
    covered += block.bytes.length;
  }
  return blocks;
}
