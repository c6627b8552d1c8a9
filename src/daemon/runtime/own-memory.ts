/**
 * Memory that belongs to no other buffer, and goes back to the system as soon as it is freed, without holes between buffers. Only
 * what can be resized does not come from malloc: glibc keeps twice as much free memory as the largest block that it has freed.
 */
export function ownMemory(length: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new ArrayBuffer(length, { maxByteLength: length }), 0, length);
}

/**
 * Frees the memory of bytes that nothing uses any more. V8 would free it with a later collection, which is long in coming, as to V8
 * they are a small object. What is in Node's pool stays.
 */
export function freeMemory(bytes: Uint8Array | string | undefined): void {
  if (!(bytes instanceof Uint8Array)) return;
  const { buffer } = bytes;
  if (buffer instanceof ArrayBuffer && (buffer.resizable || buffer.byteLength > Buffer.poolSize))
    buffer.transferToFixedLength(0);
}
