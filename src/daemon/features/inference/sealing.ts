import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { ReasoningOrigin } from './neutral.ts';

/**
 * Seals what a provider wants to see again of its reasoning into an opaque text that only this daemon can open, and
 * only for the workspace that it was made for. Form: `gws1.` and base64url of a 12-byte nonce, the AES-256-GCM
 * ciphertext of JSON, and its 16-byte tag; the workspace is bound in as additional data.
 */
export interface Sealer {
  seal(workspaceId: string, origin: ReasoningOrigin): string;
  /** Undefined for a text that was damaged, or made elsewhere or for another workspace. */
  open(workspaceId: string, sealed: string): ReasoningOrigin | undefined;
}

const prefix = 'gws1.';
const nonceBytes = 12;
const tagBytes = 16;

/** `dataKey` is 32 bytes. */
export function createSealer(dataKey: Uint8Array, randomBytes: (count: number) => Uint8Array): Sealer {
  const bind = (workspaceId: string) => Buffer.from(`reasoning|1|${workspaceId}`);
  return {
    seal(workspaceId, origin) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', dataKey, nonce, { authTagLength: tagBytes });
      cipher.setAAD(bind(workspaceId));
      const text = JSON.stringify([origin.provider, origin.model, origin.payload]);
      const body = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return prefix + body.toString('base64url');
    },
    open(workspaceId, sealed) {
      if (!sealed.startsWith(prefix)) return undefined;
      const body = Buffer.from(sealed.slice(prefix.length), 'base64url');
      if (body.length <= nonceBytes + tagBytes) return undefined;
      try {
        const nonce = body.subarray(0, nonceBytes);
        const opener = createDecipheriv('aes-256-gcm', dataKey, nonce, { authTagLength: tagBytes });
        opener.setAAD(bind(workspaceId));
        opener.setAuthTag(body.subarray(body.length - tagBytes));
        const text = Buffer.concat([opener.update(body.subarray(nonceBytes, -tagBytes)), opener.final()]);
        const [provider, model, payload] = JSON.parse(text.toString('utf8')) as [string, string, unknown];
        return { provider, model, payload };
      } catch {
        return undefined;
      }
    },
  };
}

/** Whether a text claims to be sealed here, be it intact or not. */
export function looksSealed(text: string): boolean {
  return text.startsWith(prefix);
}
