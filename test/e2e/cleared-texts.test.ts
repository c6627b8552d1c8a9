import { afterAll, beforeAll, expect, test } from 'vitest';
import { everythingShown, filesOf } from '../support/canaries.ts';
import { answers } from '../support/chaos-behaviours.ts';
import { type ChaosCall, type ChaosUpstream, startChaosUpstream } from '../support/chaos-upstream.ts';
import { type RunningDaemon, startDaemon } from '../support/start-daemon.ts';
import { tellEverywhere } from '../support/telling-persons.ts';

const anna = { user: 'anna@example.com', text: 'Plumcake-of-Anna-4711' };
const bob = { user: 'bob', text: 'Rhubarb-of-Bob-4712' };

let chaos: ChaosUpstream;
let daemon: RunningDaemon;
let threadId = '';
let responseId = '';

beforeAll(async () => {
  chaos = await startChaosUpstream(answers());
  daemon = await startDaemon({
    config: `log: {level: trace}
capture: {content: disk}
upstreams: [{name: echo, base_url: "${chaos.baseUrl}", models: ["*"], wire: responses, prices: {input: "0", output: "0"}}]
`,
  });
  const made = (await (await asOwner('/v1/threads', 'POST', {})).json()) as { thread: { id: string } };
  threadId = made.thread.id;
  for (const person of [bob, anna]) {
    const model = chaos.addModel('echo', answers({ text: `You said: ${person.text}` }));
    ({ responseId } = await tellEverywhere({ ...daemon, model, ...person }, threadId));
  }
});

afterAll(async () => {
  await daemon.stop();
  await chaos.close();
});

const asOwner = (path: string, method = 'GET', json?: object) =>
  fetch(daemon.url + path, {
    method,
    headers: { authorization: `Bearer ${daemon.login}`, 'content-type': 'application/json' },
    body: json === undefined ? null : JSON.stringify(json),
  });

/** Where a text is: in all that is shown, and all bytes of all files. */
async function placesOf(text: string): Promise<string[]> {
  const places = [...(await everythingShown(daemon)), ...filesOf(daemon)];
  return places.filter(([, content]) => content.includes(text)).map(([place]) => place);
}

test('deleting the texts of a person leaves none of them anywhere, and those of others', async () => {
  expect((await placesOf(anna.text)).length).toBeGreaterThan(10);
  const cleared = await asOwner(`/v1/traces/content?user=${anna.user}`, 'DELETE');
  expect(await cleared.json()).toMatchObject({
    stores: [
      { store: 'content', deleted: 12 },
      { store: 'responses', deleted: 5 },
      { store: 'background_responses', deleted: 1 },
      { store: 'threads', deleted: 1 },
      { store: 'cached_answers', deleted: 1 },
      { store: 'idempotency_keys', deleted: 1 },
    ],
    running: 0,
  });
  // The write-ahead log is emptied a moment later.
  await expect.poll(() => placesOf(anna.text)).toEqual([]);
  expect((await placesOf(bob.text)).length).toBeGreaterThan(10);
  expect((await asOwner(`/v1/responses/${responseId}`)).status).toBe(404);
});

test('a thread goes on with the turns of others', async () => {
  const model = chaos.addModel('echo', answers({ text: 'Still here.' }));
  const answer = await asOwner('/v1/responses', 'POST', { model, input: 'Go on.', conversation: threadId });
  expect(answer.status).toBe(200);
  const sent = JSON.stringify(chaos.calls.at(-1)?.body);
  expect([sent.includes(bob.text), sent.includes(anna.text), sent.includes('Go on.')]).toEqual([
    true,
    false,
    true,
  ]);
  const messages = await (await asOwner(`/v1/threads/${threadId}/messages`)).json();
  expect((messages as { data: unknown[] }).data).toHaveLength(4);
});

test('a call that still runs is counted, and deleted once it has ended', async () => {
  const text = 'Quince-of-Cleo-4713';
  const held: ChaosCall[] = [];
  const model = chaos.addModel('echo', (call) => void held.push(call));
  const body = { model, input: text, background: true, service: { user: 'cleo' } };
  const started = await asOwner('/v1/responses', 'POST', body);
  const { id } = (await started.json()) as { id: string };
  await expect.poll(() => held.length).toBe(1);
  const clear = async () =>
    (await (await asOwner('/v1/traces/content?user=cleo&only=responses', 'DELETE')).json()) as object;
  // The hold of a call that has just begun may not be stored yet.
  await expect.poll(clear).toMatchObject({ running: 1, stores: [{ store: 'responses', deleted: 0 }] });
  answers({ text })(held[0] as ChaosCall);
  await expect
    .poll(async () => (await (await asOwner(`/v1/responses/${id}`)).json()) as object)
    .toMatchObject({ status: 'completed' });
  expect(await clear()).toMatchObject({ running: 0, stores: [{ store: 'responses', deleted: 1 }] });
});
