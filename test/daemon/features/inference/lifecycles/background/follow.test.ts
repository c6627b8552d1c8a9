import { expect, test } from 'vitest';
import type { BackgroundResponse } from '../../../../../../src/daemon/features/inference/lifecycles/background/background-store.ts';
import { follow } from '../../../../../../src/daemon/features/inference/lifecycles/background/follow.ts';
import type { StoredResponse } from '../../../../../../src/daemon/features/inference/stored/responses-store.ts';

const id = 'resp_1';
const started = 'event: response.created\ndata: {"type":"response.created","sequence_number":0}\n\n';
const queued = JSON.stringify({ id, object: 'response', status: 'queued', output: [] });

/** The text that a reader gets of a response without a run. */
async function reported(row: Partial<BackgroundResponse> | undefined, stored?: object): Promise<string> {
  const never = new AbortController().signal;
  const deps = {
    background: {
      byId: async () =>
        row && ({ id, streamed: true, lastSequence: null, body: queued, ...row } as BackgroundResponse),
      eventsAfter: async (_id: string, after: number) =>
        after < 0 ? { lastSequence: 0, text: started } : undefined,
    },
    responses: {
      byId: async () => stored && ({ id, body: JSON.stringify(stored) } as StoredResponse),
    },
    world: { now: () => 0 },
    run: undefined,
    hasOthers: () => false,
  };
  let text = '';
  const following = { workspaceId: 'ws_1', id, after: -1, signal: never, revoked: never };
  for await (const chunk of follow(deps as never, following)) text += chunk;
  return text;
}

const typesIn = (text: string) => [...text.matchAll(/^event: (.*)$/gm)].map(([, type]) => type);

test('a response whose end could not be written ends as failed', async () => {
  const text = await reported({ isRunning: true });
  expect(typesIn(text)).toEqual(['response.created', 'error', 'response.failed']);
  expect(text).toContain('"sequence_number":2');
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
});

test('a response whose events broke off ends as stored', async () => {
  const text = await reported({ isRunning: false }, { id, status: 'completed', output: [] });
  expect(typesIn(text)).toEqual(['response.created', 'response.completed']);
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
});

test('a response that is deleted meanwhile does not appear finished', async () => {
  expect(await reported(undefined)).toBe(started);
});
