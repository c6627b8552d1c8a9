import { createHmac } from 'node:crypto';
import { decodeMacaroon, encodeMacaroon } from '../../src/shared/payments/macaroon.ts';

/** A token, in base64, with caveats that its holder appended: that takes no secret. */
export function appendCaveats(token: string, added: readonly string[]): string {
  const macaroon = decodeMacaroon(Buffer.from(token, 'base64'));
  if (!macaroon) throw new Error('the token cannot be read');
  const sign = (key: Uint8Array, caveat: string) => createHmac('sha256', key).update(caveat).digest();
  const signature = added.reduce(sign, Buffer.from(macaroon.signature));
  const caveats = [...macaroon.caveats, ...added];
  return encodeMacaroon({ identifier: macaroon.identifier, caveats, signature }).toString('base64');
}
