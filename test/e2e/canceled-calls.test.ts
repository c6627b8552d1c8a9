import { describe, expect, test } from 'vitest';
import { hangs, stallsAfter } from '../support/chaos-behaviours.ts';
import { chaosForThisFile, mainFormatPairs } from '../support/chaos-daemon.ts';
import { eventually } from '../support/eventually.ts';
import { callModel, completeCall } from '../support/model-client.ts';

const { daemon, chaos, waitForUsage } = await chaosForThisFile();

/** Follows the events; `started` resolves with the id of the next request of a model. */
async function followStarts() {
  const left = new AbortController();
  const response = await fetch(`${daemon.url}/v1/events?type=request.started`, {
    headers: bearer,
    signal: left.signal,
  });
  const started = async (model: string): Promise<string> => {
    const events = response.body?.pipeThrough(new TextDecoderStream());
    let text = '';
    for await (const chunk of events ?? []) {
      text += chunk;
      const line = text.split('\n').find((one) => one.startsWith('data:') && one.includes(`"${model}"`));
      if (line) return (JSON.parse(line.slice('data:'.length)) as Started).data.request_id;
    }
    throw new Error(`no event has ${model}`);
  };
  return { started, leave: () => left.abort() };
}

interface Started {
  data: { request_id: string };
}

const bearer = { authorization: `Bearer ${daemon.login}` };

async function cancel(request: string, authorization = bearer.authorization) {
  const response = await fetch(`${daemon.url}/v1/traces/${request}/cancel`, {
    method: 'POST',
    headers: { authorization },
  });
  return { status: response.status, body: (await response.json()) as { canceled?: boolean } };
}

describe.each(mainFormatPairs)('a call that an admin cancels: $name', ({ wire, upstream }) => {
  test('before its answer fails with 409, and its provider is let go', async () => {
    const model = chaos.addModel(upstream, hangs());
    const events = await followStarts();
    const answer = callModel(daemon, { wire, model, stream: false });
    const asked = await eventually('the provider is asked', () => chaos.callsOf(nameOf(model))[0]);
    expect(await cancel(await events.started(model))).toMatchObject({
      status: 200,
      body: { canceled: true },
    });
    events.leave();
    await answer.ended;
    expect(answer.status).toBe(409);
    expect(answer.headers['x-should-retry']).toBe('false');
    expect(answer.text).toContain('canceled the call');
    await eventually('the connection is closed', () => asked.isClosed);
    expect(await waitForUsage(model)).toMatchObject({ status: 'canceled' });
  });

  test('in the middle of its stream ends with an error event, and is charged for what was delivered', async () => {
    const model = chaos.addModel(upstream, stallsAfter(8));
    const answer = callModel(daemon, { wire, model, stream: true });
    await answer.receives('quick');
    const request = String(answer.headers['x-request-id']);
    expect(await cancel(request)).toMatchObject({ status: 200, body: { canceled: true } });
    expect(await answer.ended).toBe('end');
    expect(answer.text).toContain('canceled the call');
    const usage = await waitForUsage(model);
    expect(usage).toMatchObject({ status: 'canceled' });
    expect(usage.output).toBeGreaterThan(0);
    // It is over now.
    expect(await cancel(request)).toMatchObject({ status: 200, body: { canceled: false } });
  });
});

test('an unknown request is not found, and a key cannot cancel', async () => {
  const done = await completeCall(daemon, { wire: 'chat', model: 'sim/echo', stream: false });
  expect((await cancel('req_unknown')).status).toBe(404);
  const request = String(done.headers['x-request-id']);
  expect((await cancel(request, `Bearer ${daemon.key}`)).status).toBe(401);
});

function nameOf(model: string): string {
  return model.slice(model.indexOf('/') + 1);
}
