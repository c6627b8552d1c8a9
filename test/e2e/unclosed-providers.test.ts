import { afterAll, describe, expect, test } from 'vitest';
import { eventsOf, words } from '../support/chaos-behaviours.ts';
import { allFormatPairs, nanoUsdPerToken, startChaosDaemon } from '../support/chaos-daemon.ts';
import type { Behaviour } from '../support/chaos-upstream.ts';
import { eventually } from '../support/eventually.ts';
import { completeCall, parseStream } from '../support/model-client.ts';
import { chunk, chunkedHead } from '../support/raw-server.ts';

/** Providers that send a complete answer and then neither `[DONE]` or `message_stop` nor the end of the stream. */
const on = await startChaosDaemon('timeouts: {closing_ms: 150}');
afterAll(async () => {
  const { faults } = await on.waitUntilIdle();
  expect(faults).toEqual([]);
  await on.close();
});

const usage = { input: 7, output: 5 };

/** Sends all events of an answer, with or without usage, and leaves the stream open. */
function leavesOpen({ hasUsage }: { hasUsage: boolean }): Behaviour {
  return (call) => {
    const answer = { text: words, usage: hasUsage ? usage : ('none' as const) };
    const body = { ...call.body, stream: true, stream_options: { include_usage: true } };
    const isEnd = (event: string) => event.includes('[DONE]') || event.includes('message_stop');
    const events = eventsOf({ wire: call.wire, body }, answer).filter((event) => !isEnd(event));
    call.socket.write(chunkedHead() + chunk(events.join('')));
  };
}

describe.each(allFormatPairs)('a provider stream that stays open: $name', ({ wire, upstream }) => {
  test.each([
    { stream: true, hasUsage: true },
    { stream: true, hasUsage: false },
    { stream: false, hasUsage: true },
  ])('is completed, charged and closed (%j)', async ({ stream, hasUsage }) => {
    const name = `open-${wire}-${upstream}-${stream}-${hasUsage}`;
    on.chaos.on(name, leavesOpen({ hasUsage }));
    const answer = await completeCall(on.daemon, { wire, model: `${upstream}/${name}`, stream });
    expect(answer.status).toBe(200);
    if (stream) expect(parseStream(answer.text)).toMatchObject({ text: words, errors: [], isDoneLast: true });
    else expect(answer.text).toContain(words);
    const row = await on.waitForUsage(`${upstream}/${name}`);
    expect(row).toMatchObject({ status: 'completed', isReported: hasUsage ? 1 : 0 });
    if (hasUsage) expect(row).toMatchObject(usage);
    expect(row.charged).toBe(row.input * nanoUsdPerToken.input + row.output * nanoUsdPerToken.output);
    await eventually('the connection is dropped', () => on.chaos.callsOf(name)[0]?.isClosed);
  });
});
