import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { everythingShown, filesOf } from '../support/canaries.ts';
import { answers } from '../support/chaos-behaviours.ts';
import { type ChaosUpstream, startChaosUpstream } from '../support/chaos-upstream.ts';
import type { ChildDaemon } from '../support/child-daemon.ts';
import { startMemberDaemon } from '../support/member-daemon.ts';
import { missingPostgres, type PostgresServer, startPostgres } from '../support/postgres.ts';
import { tellEverywhere } from '../support/telling-persons.ts';

const missing = missingPostgres();
if (missing) process.stderr.write(`Texts are not deleted from PostgreSQL: ${missing}\n`);

const anna = { user: 'anna@example.com', text: 'Plumcake-of-Anna-4711' };
const bob = { user: 'bob', text: 'Rhubarb-of-Bob-4712' };

/** The same as in `cleared-texts.test.ts`, with content in the memory and on the disk of several daemons. */
describe.skipIf(missing !== undefined)(
  'the texts of a person at two daemons of one PostgreSQL database',
  () => {
    let server: PostgresServer;
    let chaos: ChaosUpstream;
    let database = '';
    let daemons: ChildDaemon[] = [];

    beforeAll(async () => {
      server = await startPostgres();
      chaos = await startChaosUpstream(answers());
      database = await server.newDatabase();
      const upstream = `{name: echo, base_url: "${chaos.baseUrl}", models: ["*"], wire: responses, prices: {input: "0", output: "0"}}`;
      daemons = await Promise.all(
        ['disk', 'memory'].map((content) =>
          startMemberDaemon(database, {
            config: `log: {level: trace}\ncapture: {content: ${content}}\nupstreams: [${upstream}]\n`,
          }),
        ),
      );
      for (const daemon of daemons) {
        const headers = { authorization: `Bearer ${daemon.login}`, 'content-type': 'application/json' };
        const made = await fetch(`${daemon.url}/v1/threads`, { method: 'POST', headers, body: '{}' });
        const { thread } = (await made.json()) as { thread: { id: string } };
        for (const person of [bob, anna]) {
          const model = chaos.addModel('echo', answers({ text: `You said: ${person.text}` }));
          await tellEverywhere({ ...daemon, model, ...person }, thread.id);
        }
      }
    });

    afterAll(async () => {
      await Promise.all(daemons.map((daemon) => daemon.remove()));
      await chaos?.close();
      await server?.stop();
    });

    async function placesOf(text: string): Promise<string[]> {
      const name = new URL(database).pathname.slice(1);
      const places: [string, string][] = [['database', await server.dump(name)]];
      for (const daemon of daemons) places.push(...(await everythingShown(daemon)), ...filesOf(daemon));
      return places.filter(([, content]) => content.includes(text)).map(([place]) => place);
    }

    test('is deleted by one of them everywhere', async () => {
      expect((await placesOf(anna.text)).length).toBeGreaterThan(20);
      const [{ url, login } = { url: '', login: '' }] = daemons;
      const headers = { authorization: `Bearer ${login}` };
      const path = `/v1/traces/content?user=${anna.user}`;
      const cleared = await fetch(url + path, { method: 'DELETE', headers });
      // Content is counted where it was asked.
      expect(await cleared.json()).toMatchObject({
        stores: [
          { store: 'content', deleted: 12 },
          { store: 'responses', deleted: 10 },
          { store: 'background_responses', deleted: 2 },
          { store: 'threads', deleted: 2 },
          { store: 'cached_answers', deleted: 2 },
          { store: 'idempotency_keys', deleted: 2 },
        ],
      });
      await expect.poll(() => placesOf(anna.text)).toEqual([]);
      expect((await placesOf(bob.text)).length).toBeGreaterThan(20);
    });

    test('a forgotten user has a pseudonym at both, and later calls have the name', async () => {
      const cleo = 'cleo@example.com';
      const model = chaos.addModel('echo', answers({ text: 'Yes.' }));
      const ask = async ({ url, key }: ChildDaemon) => {
        const headers = {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          'x-service-user': cleo,
        };
        const body = JSON.stringify({ model, input: 'Hello' });
        const answer = await fetch(`${url}/v1/responses`, { method: 'POST', headers, body });
        expect(answer.status).toBe(200);
      };
      for (const daemon of daemons) await ask(daemon);
      const [first, second] = daemons as [ChildDaemon, ChildDaemon];
      const asOwner = async ({ url, login }: ChildDaemon, path: string, method = 'GET') =>
        (await fetch(url + path, { method, headers: { authorization: `Bearer ${login}` } })).json();
      expect((await placesOf(cleo)).length).toBeGreaterThan(5);
      const { forgotten } = (await asOwner(
        first,
        `/v1/traces/content?user=${cleo}&forget=true`,
        'DELETE',
      )) as {
        forgotten: { pseudonym: string; calls: number };
      };
      expect(forgotten.calls).toBe(2);
      await expect.poll(() => placesOf(cleo)).toEqual([]);
      // The other daemon had the name in its memory.
      await ask(second);
      const found = async (user: string) =>
        ((await asOwner(second, `/v1/traces?q=user:${user}`)) as { data: unknown[] }).data.length;
      expect([await found(cleo), await found(forgotten.pseudonym)]).toEqual([1, 2]);
    });
  },
);
