import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hangs, stallsAfter } from '../support/chaos-behaviours.ts';
import { type ChaosDaemon, formatPairs, nanoUsdPerToken, startChaosDaemon } from '../support/chaos-daemon.ts';
import { eventually } from '../support/eventually.ts';
import { callModel, completeCall, parseStream } from '../support/model-client.ts';

let chaotic: ChaosDaemon;

beforeAll(async () => {
  chaotic = await startChaosDaemon();
  chaotic.chaos.on('live', stallsAfter(8));
  chaotic.chaos.on('waiting', hangs());
  chaotic.chaos.on('others', stallsAfter(8));
});

afterAll(async () => {
  await chaotic.close();
});

async function admin<T>(path: string, init: RequestInit & { json?: unknown } = {}): Promise<T> {
  const headers = { authorization: `Bearer ${chaotic.daemon.login}` };
  const answer = await chaotic.daemon.fetch(path, {
    ...init,
    headers: {
      ...headers,
      ...(init.json !== undefined && { 'content-type': 'application/json' }),
      ...init.headers,
    },
  });
  expect(answer.status).toBe(200);
  return (await answer.json()) as T;
}

describe('a key revoked while 50 streams run with it and with a key that it issued', () => {
  test('is rejected, and every stream ends with an error and a charge', async () => {
    const { daemon, chaos } = chaotic;
    const scopes = ['responses', 'models:read', 'usage:read', 'traces:read', 'keys'];
    const { key, secret } = await admin<{ key: { id: string }; secret: string }>('/v1/workspaces/me/keys', {
      json: { name: 'stolen', scopes },
    });
    const stolen = { url: daemon.url, key: secret };
    const child = await admin<{ key: { id: string }; secret: string }>('/v1/workspaces/me/keys', {
      json: { name: 'made with it' },
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    });
    const issued = { url: daemon.url, key: child.secret };
    const streams = Array.from({ length: 50 }, (_, index) => {
      const { wire, upstream } = formatPairs[index % formatPairs.length] ?? {
        wire: 'chat',
        upstream: 'chat',
      };
      return {
        wire,
        answer: callModel(index < 25 ? stolen : issued, { wire, model: `${upstream}/live`, stream: true }),
      };
    });
    const whole = formatPairs.map(({ wire, upstream }) =>
      callModel(stolen, { wire, model: `${upstream}/waiting`, stream: false }),
    );
    const other = callModel(daemon, { wire: 'chat', model: 'chat/others', stream: true });
    const followed = await fetch(`${daemon.url}/v1/events`, {
      headers: { authorization: `Bearer ${secret}` },
    });
    expect(followed.status).toBe(200);
    await Promise.all([...streams.map(({ answer }) => answer.receives('quick')), other.receives('quick')]);
    await eventually('all are asked', () => chaos.callsOf('waiting').length === whole.length);

    const revoked = await admin(`/v1/workspaces/me/keys/${key.id}`, { method: 'DELETE' });
    expect(revoked).toMatchObject({ id: key.id, also_revoked: [child.key.id] });
    for (const wire of ['responses', 'chat'] as const) {
      for (const by of [stolen, issued]) {
        expect((await completeCall(by, { wire, model: 'chat/any', stream: true })).status).toBe(401);
      }
    }
    await Promise.all([...streams.map(({ answer }) => answer.ended), ...whole.map((answer) => answer.ended)]);
    // Its events end, too: reading on resolves.
    for await (const _bytes of followed.body ?? []);

    for (const { wire, answer } of streams) {
      const { errors, ends, doneMarks, isDoneLast } = parseStream(answer.text);
      expect({ errors, doneMarks, isDoneLast }).toEqual({
        errors: ['unauthenticated'],
        doneMarks: 1,
        isDoneLast: true,
      });
      expect(ends).toEqual(wire === 'responses' ? ['failed'] : []);
      expect(answer.text).toContain('"type":"unauthorized"');
    }
    for (const answer of whole) expect(answer.status).toBe(401);
    await eventually(
      'only the other call is left',
      () => chaos.busy === 1 && chaotic.ledger().holds.length === 1,
    );
    const { usage, faults } = chaotic.ledger();
    expect(faults).toEqual([]);
    const rows = usage.filter(({ model }) => /\/(live|waiting)$/.test(model));
    expect(rows).toHaveLength(streams.length + whole.length);
    for (const { status, charged, input, output, model } of rows) {
      expect(status).toBe('failed');
      expect(charged).toBe(input * nanoUsdPerToken.input + output * nanoUsdPerToken.output);
      expect(input).toBeGreaterThan(0);
      expect(output > 0).toBe(model.endsWith('/live'));
    }
    other.disconnect();
    await chaotic.waitUntilIdle();
  });
});
