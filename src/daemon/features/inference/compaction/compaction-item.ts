import { invalid, type Json, requiredText } from '../fault.ts';
import type { InputItem, MessageItem, OpaqueItem } from '../neutral.ts';
import { looksLikeSummary } from '../pipeline/sealing.ts';
import { noteOf } from './prompt.ts';

/** Opens a sealed summary; undefined when it is not one of this workspace's. */
export type OpenSummary = (sealed: string) => string | undefined;

/** What a create call's last item asks for. */
const triggerType = 'compaction_trigger';

/**
 * A `compaction` item of an input. One that was sealed here becomes a message; another is left to the providers that
 * may have made it. Fails when it was damaged or made for another workspace.
 */
export function parseCompaction(item: Json, param: string, open: OpenSummary): InputItem {
  const place = `${param}.encrypted_content`;
  const sealed = requiredText(item.encrypted_content, place);
  const summary = open(sealed);
  if (summary !== undefined) return summaryMessage(summary);
  if (looksLikeSummary(sealed)) throw notOurs(place);
  return { type: 'opaque', json: item, mustReach: place };
}

/** What is told of a sealed text that nobody can open who may be asked. */
export function notOurs(place: string) {
  return invalid(place, 'This was not sealed here for this workspace, or was damaged.');
}

export function summaryMessage(summary: string): MessageItem {
  return {
    type: 'message',
    role: 'user',
    content: [{ type: 'text', text: noteOf(summary) }],
    isSummary: true,
  };
}

/** Whether it is a summary that some provider sealed, which is for that provider alone. */
export function isForeign(item: InputItem): item is OpaqueItem & { mustReach: string } {
  return item.type === 'opaque' && item.mustReach !== undefined;
}

export function isTrigger(item: InputItem | undefined): boolean {
  return item?.type === 'opaque' && item.json.type === triggerType;
}

/** The same of an item as it was sent. */
export function isTriggerJson(item: Json): boolean {
  return item.type === triggerType;
}

export function isCompactionJson(item: Json): boolean {
  return item.type === 'compaction';
}
