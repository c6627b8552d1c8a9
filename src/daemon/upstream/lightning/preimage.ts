/** The 32 bytes of a preimage; undefined for anything else, and for the zeros with which nodes fill the field. */
export function preimageFrom(text: string | undefined, encoding: 'hex' | 'base64'): Uint8Array | undefined {
  const bytes = Buffer.from(text ?? '', encoding);
  return bytes.length === 32 && bytes.some((byte) => byte !== 0) ? bytes : undefined;
}
