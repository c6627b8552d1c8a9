import { keyBytes } from './sealing-scheme.ts';

/**
 * A master key as people write it: 64 hex digits, or 32 bytes in base64 of either alphabet. Undefined for anything else.
 */
export function parseMasterKey(text: string): Uint8Array | undefined {
  const written = text.trim();
  if (/^[0-9a-fA-F]{64}$/.test(written)) return Buffer.from(written, 'hex');
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(written)) return undefined;
  const key = Buffer.from(written, 'base64');
  return key.length === keyBytes ? key : undefined;
}
