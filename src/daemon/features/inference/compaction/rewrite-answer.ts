import { isObject, type Json } from '../../../../shared/faults/invalid-request.ts';
import type { MakeId } from '../../../../shared/ids.ts';
import { createOutput } from '../../calls/index.ts';
import type { Batch, InferenceEvent, RawFrame } from '../../upstreams/neutral.ts';
import type { UpstreamAnswer } from '../../upstreams/upstream.ts';
import { itemAsEvents } from '../formats/responses/parse-answer.ts';
import { summaryIn } from './summary-call.ts';

interface SummaryAnswer {
  makeId: MakeId;
  /** Creates the item of a summary. */
  itemOf: (summary: string) => Json;
  /** Called with the number of characters that the model wrote. */
  count: (characters: number) => void;
}

/** Turns a model's summary into an answer with one item, which holds the summary sealed. */
export function summaryAsItem(answer: UpstreamAnswer, options: SummaryAnswer): UpstreamAnswer {
  const written = createOutput(options.makeId, () => '');
  if (answer.kind === 'stream') return { ...answer, batches: sealed(answer.batches, written, options) };
  if (answer.kind !== 'json' || answer.failure) return answer;
  const items = Array.isArray(answer.json.output) ? answer.json.output.filter(isObject) : [];
  items.forEach((item, index) => {
    for (const event of itemAsEvents(item, index, { provider: '', model: '' })) written.apply(event);
  });
  return { ...answer, json: { ...answer.json, output: [options.itemOf(summaryIn(written.items))] } };
}

async function* sealed(
  batches: AsyncIterable<Batch>,
  written: ReturnType<typeof createOutput>,
  { itemOf, count }: SummaryAnswer,
): AsyncGenerator<Batch> {
  const closing: InferenceEvent[] = [];
  for await (const { events } of batches) {
    const passed: InferenceEvent[] = [];
    const before = written.characters();
    for (const event of events) {
      written.apply(event);
      if (event.type === 'finished') closing.push(event);
      else if (event.type === 'usage' || event.type === 'prompt-counted') passed.push(event);
    }
    count(written.characters() - before);
    yield { events: passed, frames: undefined };
  }
  yield { events: [...wholeItem(itemOf(summaryIn(written.items))), ...closing], frames: undefined };
}

/** Inserts an item before those of an answer. */
export function withItemBefore(answer: UpstreamAnswer, item: Json): UpstreamAnswer {
  if (answer.kind === 'stream') return { ...answer, batches: shifted(answer.batches, item) };
  if (answer.kind !== 'json') return answer;
  const output = Array.isArray(answer.json.output) ? answer.json.output : [];
  return { ...answer, json: { ...answer.json, output: [item, ...output] } };
}

async function* shifted(batches: AsyncIterable<Batch>, item: Json): AsyncGenerator<Batch> {
  let isFirst = true;
  for await (const { events, frames } of batches) {
    const moved = events.map((event) => ('index' in event ? { ...event, index: event.index + 1 } : event));
    const passed = frames?.map(movedFrame);
    if (isFirst) {
      moved.unshift(...wholeItem(item));
      passed?.unshift(...wholeFrames(item));
    }
    yield { events: moved, frames: passed };
    isFirst = false;
  }
}

function movedFrame(frame: RawFrame): RawFrame {
  const { output_index: index } = frame.json;
  return typeof index === 'number' ? frameOf({ ...frame.json, output_index: index + 1 }) : frame;
}

function frameOf(json: Json): RawFrame {
  return { raw: JSON.stringify(json), json };
}

function wholeItem(item: Json): InferenceEvent[] {
  return [
    { type: 'item-started', index: 0, item: { kind: 'opaque', json: item } },
    { type: 'item-done', index: 0, item },
  ];
}

function wholeFrames(item: Json): RawFrame[] {
  return ['response.output_item.added', 'response.output_item.done'].map((type) =>
    frameOf({ type, output_index: 0, item }),
  );
}
