import { existsSync, readFileSync } from 'node:fs';
import { afterAll, describe, expect, test } from 'vitest';
import { logFiles } from '../../src/shared/folders.ts';
import {
  answers,
  bytesOf,
  eventsOf,
  insertsAfter,
  rewritten,
  says,
  words,
} from '../support/chaos-behaviours.ts';
import { formatPairs, startChaosDaemon } from '../support/chaos-daemon.ts';
import type { Behaviour } from '../support/chaos-upstream.ts';
import { completeCall, parseStream } from '../support/model-client.ts';

/** Providers whose JSON is nested so deeply that whatever walks over it runs out of stack. */
const on = await startChaosDaemon();
afterAll(async () => {
  const { faults } = await on.waitUntilIdle();
  // The first line of a log makes its file.
  const logs = logFiles(on.daemon.home).filter((path) => existsSync(path));
  const lines = logs.flatMap((path) => readFileSync(path, 'utf8').split('\n'));
  await on.close();
  expect(faults).toEqual([]);
  expect(lines.filter((line) => line.includes('RangeError') || line.length > 4_000)).toEqual([]);
});

/** Some thousands are enough. */
const levels = 30_000;
const lists = '['.repeat(levels) + ']'.repeat(levels);
const objects = `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
/** The first object gets a member more, at its beginning. */
const withMember = (member: string) => (text: string) => text.replace(/^(data: )?\{/m, `$1{${member},`);

function document(change: (text: string) => string): Behaviour {
  return (call) => {
    const [, body = ''] = bytesOf(call).toString().split('\r\n\r\n');
    says(200, { body: change(body) })(call);
  };
}

const members = [
  ['lists in an unknown member', `"extra":${lists}`],
  ['objects in an unknown member', `"extra":${objects}`],
  ['usage', `"usage":{"input_tokens":1,"details":${objects}}`],
  ['choices', `"choices":${lists}`],
  ['an item', `"item":{"type":"thing","of":${lists}}`],
  ['an error', `"error":${objects}`],
] as const;

describe.each(formatPairs)('JSON nested too deeply: $name', ({ wire, upstream }) => {
  const ask = (model: string, stream: boolean, more = {}) =>
    completeCall(on.daemon, { wire, model, stream, more });

  describe.each([true, false])('stream: %s', (stream) => {
    test.each(members)(
      '%s, before the first event: the next provider answers, else a status',
      async (_what, member) => {
        const change = withMember(member);
        const deep: Behaviour = (call) => (call.stream ? rewritten(change) : document(change))(call);
        const fallbacks = [on.chaos.addModel('spare', answers())];
        const spared = await ask(on.chaos.addModel(upstream, deep), stream, { service: { fallbacks } });
        expect(spared.headers['x-service-upstream']).toBe('spare');
        const failed = await ask(on.chaos.addModel(upstream, deep), stream);
        expect(failed.status).toBe(502);
        expect(JSON.parse(failed.text).error).toMatchObject({
          type: 'upstream_failed',
          code: 'upstream_failed',
        });
      },
    );

    test('an error answer of status 400 or 500 is still read', async () => {
      for (const [status, reported] of [
        [400, 400],
        [500, 502],
      ] as const) {
        const model = on.chaos.addModel(upstream, says(status, { body: `{"error":${objects}` }));
        expect((await ask(model, stream)).status).toBe(reported);
      }
    });
  });

  test.each(members)('%s, after the first event: the answer fails', async (_what, member) => {
    const inserted = (call: Parameters<Behaviour>[0]) => {
      const [next = ''] = eventsOf(call).slice(6);
      insertsAfter(6, withMember(member)(next))(call);
    };
    const model = on.chaos.addModel(upstream, inserted);
    const answer = await ask(model, true);
    const reported = parseStream(answer.text);
    expect(reported.errors).toEqual(['upstream_failed']);
    expect(reported.isDoneLast).toBe(true);
    expect(words.startsWith(reported.text) && reported.text.length > 0).toBe(true);
    expect(await on.waitForUsage(model)).toMatchObject({ status: 'failed', errorCode: 'upstream_failed' });
  });
});

describe.each(formatPairs)('more items than a function takes arguments: $name', ({ wire, upstream }) => {
  const many = 150_000;
  const ask = (behaviour: Behaviour, more = {}) =>
    completeCall(on.daemon, { wire, model: on.chaos.addModel(upstream, behaviour), stream: true, more });

  test('log probabilities', async () => {
    const list = `[${Array(many).fill('{}').join()}]`;
    const inChunk = (text: string) => text.replaceAll('"logprobs":null', `"logprobs":{"content":${list}}`);
    const inEvent = (text: string) => text.replaceAll('"logprobs":[]', `"logprobs":${list}`);
    const change = upstream === 'chat' ? inChunk : inEvent;
    const answer = await ask(rewritten(change, { text: 'Two words.' }));
    expect(parseStream(answer.text)).toMatchObject({ text: 'Two words.', errors: [], isDoneLast: true });
  });

  test('snapshots before the first text', async () => {
    const events = 'data: {"type":"response.in_progress"}\n\n'.repeat(many);
    const answer = await ask(rewritten((text) => (upstream === 'chat' ? text : events + text)));
    expect(parseStream(answer.text)).toMatchObject({ text: words, errors: [], isDoneLast: true });
  });
});
