import { isObject, type JsonObject as Json } from '../json/json-object.ts';

/**
 * What a provider needs to see again of a reasoning item of the Responses format: what it encrypted, or the thoughts themselves, which
 * DeepSeek demands. Undefined for other items, and if there is neither. Source: openai/codex#42249, lidge-jun/opencodex#1477.
 */
export function reasoningPayload({ type, id, encrypted_content, content }: Json): Json | undefined {
  if (type !== 'reasoning') return undefined;
  const isEncrypted = typeof encrypted_content === 'string' && encrypted_content !== '';
  const isReadable =
    Array.isArray(content) &&
    content.some((part) => isObject(part) && typeof part.text === 'string' && part.text);
  if (!isEncrypted && !isReadable) return undefined;
  return { ...(isEncrypted && { encrypted_content }), ...(isReadable && { content }), id };
}
