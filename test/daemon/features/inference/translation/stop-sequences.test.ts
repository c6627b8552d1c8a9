import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  StopSequences,
  stoppedAnswer,
} from '../../../../../src/daemon/features/inference/translation/stop-sequences.ts';
import type { InferenceEvent } from '../../../../../src/daemon/features/upstreams/neutral.ts';
import { inferenceOf } from '../../../../support/inference.ts';
import { summary } from '../../../upstream/upstream-fixture.ts';

const texts = (...deltas: string[]): InferenceEvent[] =>
  deltas.map((delta) => ({ type: 'text', index: 0, delta }));
const ending: InferenceEvent[] = [
  { type: 'item-done', index: 0 },
  { type: 'finished', reason: 'max_output_tokens' },
];

/** The output for each event, passed one at a time. */
function cutOneByOne(sequences: string[], events: readonly InferenceEvent[]) {
  const stop = new StopSequences(sequences);
  return { emitted: events.map((event) => stop.cut([event])), stop };
}

test('ends an answer before the sequence that is completed first, however its text is split', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', '\n'), maxLength: 6 });
  const sequences = fc.array(letters, { minLength: 1, maxLength: 4 });
  const all = fc.property(sequences, fc.array(letters, { maxLength: 12 }), (stops, pieces) => {
    const whole = pieces.join('');
    const ends = [...whole].map((_, at) => whole.slice(0, at + 1));
    const read = ends.find((text) => stops.some((stop) => stop !== '' && text.endsWith(stop)));
    const longest = Math.max(...stops.map((stop) => (read?.endsWith(stop) ? stop.length : 0)));
    const end = read === undefined ? whole.length : read.length - longest;
    const stopped = read !== undefined;
    const { emitted, stop } = cutOneByOne(stops, [...texts(...pieces), ...ending]);
    expect(summary(emitted.flat())).toMatchObject({
      text: whole.slice(0, end),
      done: [0],
      finish: stopped ? 'stop' : 'max_output_tokens',
    });
    expect(stop.hasStopped).toBe(stopped);
  });
  fc.assert(all, { numRuns: 500 });
});

test('holds back no more than the possible start of a sequence', () => {
  const { emitted } = cutOneByOne(['END'], texts('one ', 'two E', 'asy ', 'E', 'N', 'D three'));
  expect(emitted.map((events) => summary(events).text)).toEqual(['one ', 'two ', 'Easy ', '', '', '']);
});

test('keeps the order of events between held text', () => {
  const note: InferenceEvent = { type: 'annotation', index: 0, annotation: { url: 'https://a.example' } };
  const { emitted } = cutOneByOne(['END'], [...texts('E'), note, ...texts('at')]);
  expect(emitted.flat()).toEqual([...texts('E'), note, ...texts('at')]);
});

test('emits no thoughts or calls after the sequence, and does not search those before it', () => {
  const thought: InferenceEvent = { type: 'reasoning', index: 0, part: 0, delta: 'END' };
  const call: InferenceEvent = {
    type: 'item-started',
    index: 2,
    item: { kind: 'function_call', callId: 'c', name: 'f' },
  };
  const text: InferenceEvent = { type: 'text', index: 1, delta: 'yes END no' };
  const { emitted } = cutOneByOne(['END'], [thought, text, call, ...ending]);
  expect(summary(emitted.flat())).toMatchObject({
    thoughts: 'END',
    text: 'yes ',
    calls: [],
    done: [1],
    finish: 'stop',
  });
});

test('log probabilities are kept with whole pieces only', () => {
  const piece: InferenceEvent = {
    type: 'text',
    index: 0,
    delta: 'one END',
    logprobs: [{ token: 'one END' }],
  };
  const { emitted } = cutOneByOne(['END'], [{ ...piece, delta: 'zero ' }, piece]);
  expect(emitted.flat().slice(0, 2)).toEqual([{ ...piece, delta: 'zero ' }, ...texts('one ')]);
});

// Without reasoning the tokens can be estimated; else only its provider can count them.
test.each([
  [false, 1],
  [true, 3],
  [null, 3],
] as const)('of a model whose reasoning is %s, %i of 3 batches are read', async (reasoning, read) => {
  let taken = 0;
  const usage: InferenceEvent = {
    type: 'usage',
    tokens: { input: 1, cachedInput: 0, cacheWrite: 0, output: 700, reasoning: 600 },
  };
  async function* batches() {
    for (const events of [texts('one END'), texts(' two'), [...ending, usage]]) {
      taken += 1;
      yield { events, frames: undefined };
    }
  }
  const answer = stoppedAnswer(
    { kind: 'stream', batches: batches(), dropped: [{ param: 'stop' }, { param: 'seed' }] },
    {
      inference: inferenceOf({ wire: 'chat', sampling: { stop: ['END'] } }),
      abilities: { reasoning, structuredOutput: null, logprobs: null },
      wire: 'chat',
    },
    ['END'],
  );
  if (answer.kind !== 'stream') throw new TypeError('not a stream');
  const events: InferenceEvent[] = [];
  for await (const batch of answer.batches) events.push(...batch.events);
  expect(summary(events)).toMatchObject({ text: 'one ', finish: 'stop' });
  expect({ taken, dropped: answer.dropped }).toEqual({ taken: read, dropped: [{ param: 'seed' }] });
});
