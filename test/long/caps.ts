/**
 * 400 calls at once over three daemons where 20 are allowed: `npm run long -- caps [REPETITIONS]`. Never more than 20 are served,
 * whatever allows them: the cap of a key, that of the key which issued the callers' keys, prepaid credit, or calls per minute.
 */
import { answers, words } from '../support/chaos-behaviours.ts';
import { startChaosUpstream } from '../support/chaos-upstream.ts';
import { eventually } from '../support/eventually.ts';
import { Checks, numberArgument, printFigures, quantile } from '../support/long-run.ts';
import { completeCall } from '../support/model-client.ts';
import { startPostgres } from '../support/postgres.ts';
import { SeveralDaemons } from '../support/several-daemons.ts';
import { addPerson, askDaemon } from '../support/users.ts';

const repetitions = numberArgument(200);
const callers = 400;
const allowed = 20;
const outputTokens = 50;
const price = outputTokens * 2000;
const usd = ((allowed * price) / 1e9).toFixed(9);

const checks = new Checks();
const server = await startPostgres();
const chaos = await startChaosUpstream(answers({ text: words, usage: { input: 10, output: outputTokens } }));
const several = await SeveralDaemons.start(server, {
  count: 3,
  config: `upstreams: [{name: fake, base_url: "${chaos.baseUrl}", models: ["*"], wire: chat, prices: {input: "0", output: "2"}}]\n`,
});
const { login } = several.daemon(0);
const random = () => several.daemon(Math.floor(Math.random() * several.daemons.length));

async function created(path: string, as: string, json: object) {
  const { status, body } = await askDaemon(random(), 'POST', path, { as, json });
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
  return body;
}
const issue = async (json: object, as = login) =>
  (await created('/v1/workspaces/me/keys', as, json)).secret as string;

/** Each prepares the keys of one repetition. */
const limits: Record<string, () => Promise<string[]>> = {
  'cap of a key': async () => [await issue({ limits: { spend_cap: { usd, period: 'day' } } })],
  'cap of the issuing key': async () => {
    const parent = await issue({
      scopes: ['keys', 'responses'],
      limits: { spend_cap: { usd, period: 'total' } },
    });
    return await Promise.all(Array.from({ length: 5 }, () => issue({ scopes: ['responses'] }, parent)));
  },
  'prepaid credit': async () => {
    const person = await addPerson(several.daemon(0), `user-${Math.random().toString(36).slice(2, 12)}`);
    await created('/v1/admin/credit', login, { workspace: person.workspace, usd });
    return [await issue({}, person.login)];
  },
  'calls per minute': async () => [await issue({ limits: { requests_per_minute: allowed } })],
};

for (const [name, prepare] of Object.entries(limits)) {
  const served: number[] = [];
  const waits: number[] = [];
  const statuses = new Map<number, number>();
  for (let done = 0; done < repetitions; done += 1) {
    const keys = await prepare();
    const before = await several.count('SELECT count(*) FROM usage WHERE charged > 0');
    const all = await Promise.all(
      Array.from({ length: callers }, async (_, at) => {
        const start = performance.now();
        const { url } = several.daemon(at % several.daemons.length);
        const key = keys[at % keys.length] ?? '';
        const { status } = await completeCall(
          { url, key },
          {
            wire: 'chat',
            model: 'fake/any',
            stream: at % 2 === 0,
            more: { max_completion_tokens: outputTokens },
          },
        );
        waits.push(performance.now() - start);
        return status;
      }),
    );
    for (const status of all) statuses.set(status, (statuses.get(status) ?? 0) + 1);
    const count = all.filter((status) => status === 200).length;
    served.push(count);
    checks.check(count === allowed, `${name}: ${count} of ${allowed} calls were served`);
    await eventually(
      'all are settled',
      async () => (await several.count('SELECT count(*) FROM holds')) === 0,
    );
    const charged = (await several.count('SELECT count(*) FROM usage WHERE charged > 0')) - before;
    checks.check(charged === count, `${name}: ${charged} calls were charged, ${count} served`);
  }
  printFigures({
    [`${name}: served`]: `${Math.min(...served)} to ${Math.max(...served)} of ${callers}`,
    [`${name}: statuses`]: JSON.stringify(Object.fromEntries(statuses)),
    [`${name}: ms, p50 and p99`]: `${Math.round(quantile(waits, 0.5))} ${Math.round(quantile(waits, 0.99))}`,
  });
}
const verified = await askDaemon(several.daemon(1), 'POST', '/v1/admin/ledger/verify', { as: login });
checks.check(verified.body.ok === true, `the ledger: ${JSON.stringify(verified.body.problems)}`);
await several.remove();
await chaos.close();
await server.stop();
checks.finish();
