/** A view is copied to another thread with all of the memory that it is a part of, such as Node's pool. */
export function alone<T extends Uint8Array | string | undefined>(content: T): T {
  if (!(content instanceof Uint8Array) || content.length === content.buffer.byteLength) return content;
  return Uint8Array.prototype.slice.call(content) as T;
}

export function sizeOf(content: Uint8Array | string | undefined): number {
  return content?.length ?? 0;
}

/** Shorter ones are cheaper to copy with all else of a message. */
const movedBytesMin = 64 * 1024;

/** Long bytes as a copy, which can be moved to another thread; all else as `alone`. */
export function movable<T extends Uint8Array | string | undefined>(content: T): T {
  return isMoved(content) ? (Uint8Array.prototype.slice.call(content) as T) : alone(content);
}

/** What of `movable` contents is to be moved. */
export function movedOf(contents: readonly (Uint8Array | string | undefined)[]): ArrayBuffer[] {
  return contents.filter(isMoved).map(({ buffer }) => buffer);
}

function isMoved(content: Uint8Array | string | undefined): content is Uint8Array<ArrayBuffer> {
  return content instanceof Uint8Array && content.length >= movedBytesMin;
}
