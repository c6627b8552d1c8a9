import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hangsAfterHeaders } from '../support/chaos-behaviours.ts';
import { chaosConfig } from '../support/chaos-daemon.ts';
import { type ChaosUpstream, startChaosUpstream } from '../support/chaos-upstream.ts';
import { type ChildDaemon, startChildDaemon } from '../support/child-daemon.ts';
import { eventually } from '../support/eventually.ts';
import { readLedger } from '../support/ledger.ts';
import { callModel } from '../support/model-client.ts';

let chaos: ChaosUpstream;
let daemon: ChildDaemon;

beforeAll(async () => {
  chaos = await startChaosUpstream(hangsAfterHeaders());
  daemon = await startChildDaemon({ config: chaosConfig(chaos.baseUrl), env: { HANG_CPU_MS: '2000' } });
});

afterAll(async () => {
  await daemon.remove();
  await chaos.close();
});

test('a daemon whose main thread never comes back says where it is and exits with 70, and the next one settles its calls', async () => {
  const { home } = daemon;
  const asked = callModel(daemon, { wire: 'responses', model: 'chat/silent', stream: true });
  await eventually('the hold', () => readLedger(home).holds.length === 1);
  daemon.hang();
  expect(await daemon.ended).toBe(70);
  expect(await asked.ended).toBe('cut');
  const isLast = (line: string) => line.includes('did not return');
  const lines = daemon.printed().stderr.split('\n').filter(isLast);
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] as string)).toMatchObject({
    level: 60,
    stack: expect.stringMatching(/^at neverReturn \(.*serve-child.*:\d+:\d+\)\n/),
    msg: 'the main thread did not return from one task in 2 s of CPU time; exiting',
  });
  const log = await readFile(join(home, 'gateway.log'), 'utf8');
  expect(log.split('\n').filter(isLast)).toEqual(lines);

  daemon = await startChildDaemon({ home });
  const { holds, faults, usageOf } = readLedger(home);
  expect({ holds, faults }).toEqual({ holds: [], faults: [] });
  expect(usageOf('chat/silent')).toMatchObject([{ status: 'interrupted' }]);
});
