import { createHmac } from 'node:crypto';
import { unixSeconds } from '../../../shared/time/time.ts';

const secretPrefix = 'whsec_';
const secretBytes = 32;

/** A new secret in the form of Standard Webhooks: `whsec_` and base 64. */
export function createHookSecret(randomBytes: (count: number) => Uint8Array): string {
  return secretPrefix + Buffer.from(randomBytes(secretBytes)).toString('base64');
}

/** The headers by which a receiver can check a message, by version 1.0.0 of Standard Webhooks. */
export function signedHeaders(
  { id, body, at }: { id: string; body: string; at: number },
  secret: string,
): Record<string, string> {
  const timestamp = String(unixSeconds(at));
  const key = Buffer.from(secret.slice(secretPrefix.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}
