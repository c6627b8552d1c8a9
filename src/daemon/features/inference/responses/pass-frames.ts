import { sseEvent } from '../../../../shared/sse.ts';
import { isObject } from '../fault.ts';
import type { RawFrame } from '../neutral.ts';
import { type Output, showItem } from '../output.ts';

/** Snapshots of the response that are written by us, since they carry our id, our cost and our seals. */
const ours = new Set([
  'response.created',
  'response.queued',
  'response.in_progress',
  'response.completed',
  'response.incomplete',
  'response.failed',
  'error',
]);

interface PassOptions {
  output: Output;
  nextSequence: () => number;
  sealed: boolean;
}

/**
 * A provider's events for a caller of the same format: all that the provider says is kept, also what is not known
 * here; sequence numbers are ours because events of ours stand between, and sealed reasoning is ours to show.
 */
export function passFrames(
  frames: readonly RawFrame[],
  { output, nextSequence, sealed }: PassOptions,
): string {
  let text = '';
  for (const { json } of frames) {
    const type = String(json.type);
    if (ours.has(type)) continue;
    json.sequence_number = nextSequence();
    if (type === 'response.output_item.added') json.item = withoutSeal(json.item);
    else if (type === 'response.output_item.done') json.item = showOwn(json.item, output, sealed);
    text += sseEvent(JSON.stringify(json), type);
  }
  return text;
}

/** A finished reasoning item with our seal instead of the provider's, which only the provider's own account could open. */
function showOwn(item: unknown, output: Output, sealed: boolean): unknown {
  if (!isObject(item) || item.type !== 'reasoning') return item;
  const own = output.items.find((candidate) => candidate.id === item.id);
  return own?.kind === 'reasoning' ? showItem(own, { sealed, status: 'completed' }) : withoutSeal(item);
}

function withoutSeal(item: unknown): unknown {
  if (!isObject(item) || item.type !== 'reasoning') return item;
  const { encrypted_content: _theirs, ...rest } = item;
  return rest;
}
