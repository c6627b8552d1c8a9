/** A view is copied to another thread with all of the memory that it is a part of, such as Node's pool. */
export function alone<T extends Uint8Array | string | undefined>(content: T): T {
  if (!(content instanceof Uint8Array) || content.length === content.buffer.byteLength) return content;
  return Uint8Array.prototype.slice.call(content) as T;
}

export function sizeOf(content: Uint8Array | string | undefined): number {
  return content?.length ?? 0;
}
