import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bytesOf, cutAt, words } from '../support/chaos-behaviours.ts';
import { allFormatPairs, type ChaosDaemon, startChaosDaemon } from '../support/chaos-daemon.ts';
import { bodyOf, completeCall, parseStream } from '../support/model-client.ts';

let chaotic: ChaosDaemon;

beforeAll(async () => {
  chaotic = await startChaosDaemon();
});

afterAll(async () => {
  await chaotic.close();
});

const asked = { prompt: 'Say something.', stream: true, model: 'any' };
const samples = 36;
const together = 12;
const ways = allFormatPairs.flatMap((pair) =>
  (['reset', 'close'] as const).flatMap((by) =>
    [true, false].map((stream) => ({ ...pair, by, stream, name: `${pair.name}, ${by}, stream: ${stream}` })),
  ),
);

/** Places to cut at, from the first byte to the last, evenly spread. */
function offsets(length: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => Math.round((index * length) / (count - 1)));
}

describe('an answer cut at any byte', () => {
  test.each(ways)(
    '$name: ends once, is settled once, and reports what happened',
    async ({ wire, upstream, by, stream }) => {
      const body = bodyOf({ ...asked, wire: upstream, stream }) as Record<string, unknown>;
      const whole = bytesOf({ wire: upstream, body, stream } as Parameters<typeof bytesOf>[0]).length;
      const places = offsets(whole, stream ? samples : samples / 3);
      const one = async (at: number) => {
        const name = `${wire}-${upstream}-${by}-${stream}-${at}`;
        chaotic.chaos.on(name, cutAt(at, by));
        const model = `${upstream}/${name}`;
        const answer = await completeCall(chaotic.daemon, { ...asked, wire, stream, model });
        const { status, errorCode } = await chaotic.waitForUsage(model);
        const reported = { status, errorCode, at };
        if (answer.status !== 200) {
          expect(answer.status).toBe(502);
          expect(reported).toEqual({ status: 'failed', errorCode: 'upstream_failed', at });
        } else if (!stream) {
          expect(reported).toEqual({ status: 'completed', errorCode: null, at });
          expect(answer.text).toContain(words);
        } else {
          const { ends, errors, doneMarks, isDoneLast, text } = parseStream(answer.text);
          const isFailed = errors.length > 0;
          // In the Messages format an error is the last event.
          const isDone = wire !== 'messages' || !isFailed;
          expect({ doneMarks, isDoneLast }).toEqual({ doneMarks: isDone ? 1 : 0, isDoneLast: isDone });
          const end =
            wire === 'responses' ? [isFailed ? 'failed' : 'completed'] : isFailed ? [] : ['finished'];
          expect({ ends, at }).toEqual({ ends: end, at });
          expect(status).toBe(isFailed ? 'failed' : 'completed');
          expect(isFailed ? words.startsWith(text) : text === words).toBe(true);
        }
      };
      for (let from = 0; from < places.length; from += together) {
        await Promise.all(places.slice(from, from + together).map(one));
      }
      const { usage, faults } = await chaotic.waitUntilIdle();
      expect(faults).toEqual([]);
      expect(
        usage.filter(({ model }) => model.includes(`/${wire}-${upstream}-${by}-${stream}-`)),
      ).toHaveLength(places.length);
    },
  );
});
