import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { eventsOf } from '../support/chaos-behaviours.ts';
import { allFormatPairs, chaosConfig, startChaosDaemon } from '../support/chaos-daemon.ts';
import type { Behaviour, ChaosCall } from '../support/chaos-upstream.ts';
import { completeCall } from '../support/model-client.ts';
import { chunk, chunkedHead } from '../support/raw-server.ts';

/** Providers that never finish, while they keep sending: no call may hold its slot and its money for longer than configured. */
// Long enough for providers that a busy machine delays.
const on = await startChaosDaemon('timeouts: {output_ms: 1500}');
afterAll(async () => {
  const { faults } = await on.waitUntilIdle();
  expect(faults).toEqual([]);
  await on.close();
});

function repeats(before: (call: ChaosCall) => string, piece: (call: ChaosCall) => string): Behaviour {
  return (call) => {
    call.socket.write(before(call));
    const timer = setInterval(() => call.socket.write(piece(call)), 10);
    call.socket.once('close', () => clearInterval(timer));
  };
}

const started = (call: ChaosCall) => chunkedHead() + chunk(eventsOf(call).slice(0, 6).join(''));
const emptyDelta = ({ wire }: ChaosCall) => {
  const at = { item_id: 'msg_fake0', output_index: 0, content_index: 0 };
  const event = {
    chat: { object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: '' } }] },
    responses: { type: 'response.output_text.delta', ...at, delta: '' },
    messages: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: '' } },
  }[wire];
  return chunk(`data: ${JSON.stringify(event)}\n\n`);
};
const snapshot = ({ wire }: ChaosCall) => {
  const event = wire === 'messages' ? { type: 'ping' } : { type: 'response.in_progress', response: {} };
  return chunk(`data: ${JSON.stringify(event)}\n\n`);
};

describe.concurrent.each(allFormatPairs)('$name', ({ wire, upstream }) => {
  test.each([
    ['empty deltas', repeats(started, emptyDelta), 200],
    ['comments', repeats(started, () => chunk(': still here\n\n')), 200],
    ['snapshots before the first output', repeats(() => chunkedHead(), snapshot), 502],
  ])('a stream of %s ends', async (_what, behaviour, status) => {
    const model = on.chaos.addModel(upstream, behaviour);
    const answer = await completeCall(on.daemon, { wire, model, stream: true });
    expect(answer.status).toBe(status);
    expect(answer.text).toContain(wire === 'messages' ? '"api_error"' : '"upstream_failed"');
    const row = await on.waitForUsage(model);
    expect(row).toMatchObject({
      status: 'failed',
      errorCode: 'upstream_failed',
      attempts: [{ errorCode: 'timeout' }],
    });
  });

  test('a document that is sent byte by byte ends', async () => {
    const behaviour = repeats(
      () => `${chunkedHead('application/json')}${chunk('{"id":"')}`,
      () => chunk('x'),
    );
    const model = on.chaos.addModel(upstream, behaviour);
    const answer = await completeCall(on.daemon, { wire, model, stream: false });
    expect(answer.status).toBe(502);
    expect(await on.waitForUsage(model)).toMatchObject({ attempts: [{ errorCode: 'timeout' }] });
  });
});

test('the time for a whole call changes without a restart', async () => {
  const config = `local_servers: false\n${chaosConfig(on.chaos.baseUrl, 'timeouts: {total_ms: 2000}')}`;
  await writeFile(join(on.daemon.home, 'config.yaml'), config);
  await on.daemon.fetch('/v1/admin/reload', {
    method: 'POST',
    headers: { authorization: `Bearer ${on.daemon.login}` },
  });
  const word = (call: ChaosCall) => chunk(eventsOf(call, { text: 'again again' })[1] ?? '');
  const model = on.chaos.addModel(
    'chat',
    repeats(() => chunkedHead(), word),
  );
  const answer = await completeCall(on.daemon, { wire: 'chat', model, stream: true });
  expect(answer.text).toContain('"upstream_failed"');
  expect(answer.text).toContain('took too long and was cut off');
  expect(await on.waitForUsage(model)).toMatchObject({ attempts: [{ errorCode: 'timeout' }] });
});
