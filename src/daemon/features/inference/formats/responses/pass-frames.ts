import { sseEvent } from '../../../../../shared/sse.ts';
import { isObject, type Json } from '../../fault.ts';
import type { RawFrame } from '../../neutral.ts';
import { type Output, showItem } from '../../pipeline/output.ts';

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
 * here. Sequence numbers are ours because events of ours stand between, ids because items are stored under them, and
 * sealed reasoning is ours to show.
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
    const { item, output_index: index } = json;
    if (typeof json.item_id === 'string')
      json.item_id = output.idOf({ id: json.item_id, index }) ?? json.item_id;
    if (isObject(item)) {
      const id = output.idOf({ id: item.id, index });
      json.item = showOwn(item, id, { output, isDone: type === 'response.output_item.done', sealed });
    }
    text += sseEvent(JSON.stringify(json), type);
  }
  return text;
}

/** An item under our id; reasoning with our seal instead of the provider's, which only its own account could open. */
function showOwn(
  item: Json,
  id: string | undefined,
  { output, isDone, sealed }: { output: Output; isDone: boolean; sealed: boolean },
): Json {
  const named = id === undefined ? item : { ...item, id };
  if (item.type !== 'reasoning') return named;
  const own = isDone ? output.items.find((candidate) => candidate.id === id) : undefined;
  if (own?.kind === 'reasoning') return showItem(own, { sealed, status: 'completed' });
  const { encrypted_content: _theirs, ...rest } = named;
  return rest;
}
