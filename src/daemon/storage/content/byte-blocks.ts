/** Of a block, at most. */
const blockBytesMax = 64 * 1024;
/** So many blocks have room for all. */
const blocksAtLeast = 64;
/** A longer piece has a block of its own. */
const ownBlockShare = 1 / 4;

interface Block {
  bytes: Buffer;
  /** Where the next piece goes. */
  end: number;
  /** How many pieces are left. */
  pieces: number;
}

/** Where a piece is. */
export interface Piece {
  block: Block;
  start: number;
  length: number;
}

/**
 * Keeps small pieces of bytes in blocks: a buffer for each of them would take 300 bytes more, and leave holes between them. A block
 * is freed with its last piece.
 */
export class ByteBlocks {
  #current: Block | undefined;
  #bytes = 0;
  #blockBytes = blockBytesMax;

  /** What the pieces take, with those that were removed from blocks that have others. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The most bytes that are to be kept, of which a block is a small part. */
  setBytesMax(bytesMax: number): void {
    this.#blockBytes = Math.min(blockBytesMax, Math.ceil(bytesMax / blocksAtLeast));
  }

  /** Takes over a long buffer that has its memory for itself. */
  add(bytes: Buffer): Piece {
    const { length } = bytes;
    this.#bytes += length;
    if (length > this.#blockBytes * ownBlockShare) {
      const own = bytes.buffer.byteLength === length ? bytes : Buffer.from(bytes);
      return { block: { bytes: own, end: length, pieces: 1 }, start: 0, length };
    }
    const block = this.#blockFor(length);
    const piece = { block, start: block.end, length };
    block.bytes.set(bytes, block.end);
    block.end += length;
    block.pieces += 1;
    return piece;
  }

  /** A view, valid until the piece is removed. */
  read({ block, start, length }: Piece): Buffer {
    return block.bytes.subarray(start, start + length);
  }

  remove({ block }: Piece): void {
    block.pieces -= 1;
    if (block.pieces > 0) return;
    this.#bytes -= block.end;
    if (block === this.#current) block.end = 0;
  }

  #blockFor(length: number): Block {
    const current = this.#current;
    if (current && current.end + length <= current.bytes.length) return current;
    this.#current = { bytes: Buffer.allocUnsafeSlow(this.#blockBytes), end: 0, pieces: 0 };
    return this.#current;
  }
}
