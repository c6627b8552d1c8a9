import { hash } from 'node:crypto';

/** What is kept of a secret, and what it is looked up by: SHA-256 in lower-case hex. */
export function sha256(secret: string): string {
  return hash('sha256', secret, 'hex');
}
