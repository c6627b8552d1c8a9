import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { ReasoningOrigin } from '../upstreams/neutral.ts';

/**
 * Seals provider-specific reasoning and summaries of conversations into opaque texts. Only this daemon can open them, and
 * only for the workspace that they were sealed for. Format: `gws1.` (reasoning) or `gwc1.` (summaries), then base64url of
 * a 12-byte nonce, the AES-256-GCM ciphertext of JSON, and its 16-byte tag. Kind, version and workspace are additional
 * authenticated data.
 */
export interface Sealer {
  seal(workspaceId: string, origin: ReasoningOrigin): string;
  /** Undefined for a text that is damaged, or was not sealed here for this workspace. */
  open(workspaceId: string, sealed: string): ReasoningOrigin | undefined;
  sealSummary(workspaceId: string, summary: string): string;
  /** Undefined as for `open`. */
  openSummary(workspaceId: string, sealed: string): string | undefined;
}

const prefixes = { reasoning: 'gws1.', compact: 'gwc1.' } as const;
type Kind = keyof typeof prefixes;
const nonceBytes = 12;
const tagBytes = 16;

/** `dataKey` is 32 bytes. */
export function createSealer(dataKey: Uint8Array, randomBytes: (count: number) => Uint8Array): Sealer {
  const bind = (kind: Kind, workspaceId: string) => Buffer.from(`${kind}|1|${workspaceId}`);
  const seal = (kind: Kind, workspaceId: string, content: unknown): string => {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', dataKey, nonce, { authTagLength: tagBytes });
    cipher.setAAD(bind(kind, workspaceId));
    const text = JSON.stringify(content);
    const body = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return prefixes[kind] + body.toString('base64url');
  };
  const open = (kind: Kind, workspaceId: string, sealed: string): unknown => {
    if (!sealed.startsWith(prefixes[kind])) return undefined;
    const body = Buffer.from(sealed.slice(prefixes[kind].length), 'base64url');
    if (body.length <= nonceBytes + tagBytes) return undefined;
    try {
      const nonce = body.subarray(0, nonceBytes);
      const opener = createDecipheriv('aes-256-gcm', dataKey, nonce, { authTagLength: tagBytes });
      opener.setAAD(bind(kind, workspaceId));
      opener.setAuthTag(body.subarray(body.length - tagBytes));
      const text = Buffer.concat([opener.update(body.subarray(nonceBytes, -tagBytes)), opener.final()]);
      return JSON.parse(text.toString('utf8'));
    } catch {
      return undefined;
    }
  };
  return {
    seal: (workspaceId, { provider, model, payload }) =>
      seal('reasoning', workspaceId, [provider, model, payload]),
    open(workspaceId, sealed) {
      const opened = open('reasoning', workspaceId, sealed) as [string, string, unknown] | undefined;
      return opened && { provider: opened[0], model: opened[1], payload: opened[2] };
    },
    sealSummary: (workspaceId, summary) => seal('compact', workspaceId, [summary]),
    openSummary: (workspaceId, sealed) => (open('compact', workspaceId, sealed) as [string] | undefined)?.[0],
  };
}

/** Whether a text has the format of sealed reasoning, intact or not. */
export function looksSealed(text: string): boolean {
  return text.startsWith(prefixes.reasoning);
}

/** Whether a text has the format of a sealed summary, intact or not. */
export function looksLikeSummary(text: string): boolean {
  return text.startsWith(prefixes.compact);
}
