/** Fills a data folder with finished calls and measures reads and starts; docs/performance.md explains the results. */

import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openForWriting } from '../../src/daemon/storage/sqlite/engine/connection.ts';
import { databaseFile, dayMs, fill, type Gateway, prepare, read, start } from './grown-data.ts';
import { cpuSeconds, isGone, residentMb, stopProcess } from './processes.ts';

const usage = `npm run bench -- growth [options]     (after npm run build)
  --rows N         finished calls (1000000); ten million take about ten minutes and 8 GB
  --keys N         keys (100000)
  --active-keys N  keys that make the calls (1000)
  --days N         days that the calls are spread over (365)
  --labelled SHARE calls with a user, a conversation and tags, from 0 to 1 (0)
  --starts N       starts of a daemon without data and of one with it, in turns (10)
  --folder DIR     keep the data in this folder; if it has calls, none are added
`;

const say = (line: string) => process.stdout.write(`${line}\n`);

/** Reads that a user waits for. */
function readsOf(folder: string): [name: string, path: string][] {
  const database = openForWriting(join(folder, databaseFile));
  const key = database
    .prepare<[], string>('SELECT text FROM names JOIN calls ON key = names.number LIMIT 1')
    .pluck()
    .get();
  const at = (share: number) => {
    const ms = database
      .prepare<[number], number>(
        'SELECT completed_at FROM calls WHERE number >= (SELECT max(number) * ? FROM calls) LIMIT 1',
      )
      .pluck()
      .get(share);
    return new Date(ms ?? 0).toISOString();
  };
  const cut = `since=${at(0.2)}&until=${at(0.8)}`;
  const daysAgo = (days: number) => new Date(Date.now() - days * dayMs).toISOString();
  database.close();
  return [
    ['usage of 30 days', '/v1/usage'],
    ['usage since ever, by day', '/v1/usage?since=2020-01-01'],
    ['usage since ever, by model', '/v1/usage?since=2020-01-01&group_by=model'],
    ['usage since ever, by key', '/v1/usage?since=2020-01-01&group_by=key'],
    ['usage since ever, by key of a model', '/v1/usage?since=2020-01-01&group_by=key&model=openai/gpt-5'],
    ['usage of 30 days, by key', '/v1/usage?group_by=key'],
    ['usage since ever, of a key', `/v1/usage?since=2020-01-01&key=${key}`],
    ['usage of a period that cuts days', `/v1/usage?${cut}&group_by=model`],
    ['usage of such a period, by key', `/v1/usage?${cut}&group_by=key`],
    ['usage of a key and model in such a period', `/v1/usage?${cut}&key=${key}&model=openai/gpt-5`],
    ['usage of 30 days of a zone, by model', '/v1/usage?tz=Asia/Kathmandu&group_by=day,model'],
    ['usage of 30 days, by client', '/v1/usage?group_by=client'],
    ['usage of 24 hours, by quarters and model', '/v1/usage/series?bucket=15m&group_by=model'],
    [
      'usage of 30 days of a zone, by key',
      `/v1/usage/series?since=${daysAgo(30)}&tz=Asia/Kathmandu&bucket=day&group_by=key`,
    ],
    [
      'usage of 90 days of a zone, by model',
      `/v1/usage/series?since=${daysAgo(90)}&tz=Asia/Kathmandu&bucket=day&group_by=model`,
    ],
    [
      'usage of a year by weeks of a zone',
      `/v1/usage/series?since=${daysAgo(360)}&tz=Asia/Kathmandu&bucket=week`,
    ],
    ['latency of 24 hours, by model', '/v1/usage/latency?bucket=hour&group_by=model'],
    ['latency of 7 days', `/v1/usage/latency?since=${daysAgo(7)}&bucket=day`],
    ['latency of 90 days, by model', `/v1/usage/latency?since=${daysAgo(90)}&bucket=day&group_by=model`],
    ['key of a login', '/v1/key'],
    ['traces', '/v1/traces?limit=100'],
    ['traces of failed calls', '/v1/traces?limit=100&status=failed'],
    ['traces of a rare model', '/v1/traces?limit=100&model=google/gemini-3-pro'],
    ['traces of a rare model and a key', `/v1/traces?limit=100&model=google/gemini-3-pro&key=${key}`],
    ['traces of a provider that failed', '/v1/traces?limit=100&provider=anthropic&status=failed'],
    ['traces of a status without calls', '/v1/traces?limit=100&status=canceled'],
    ['traces of completed calls of a key', `/v1/traces?limit=100&key=${key}&status=completed`],
    [
      'traces of failed and canceled calls of a client',
      '/v1/traces?limit=100&status=failed,canceled&client=codex_cli_rs',
    ],
    ['traces of an error code', '/v1/traces?limit=100&error_code=upstream_error'],
    ['traces that took longer than any', '/v1/traces?limit=100&min_total_ms=60000'],
    ['keys', '/v1/workspaces/me/keys?limit=100'],
    ['tokens served', '/v1/usage/tokens-served'],
  ];
}

async function measureReads(gateway: Gateway, folder: string): Promise<void> {
  for (const [name, path] of readsOf(folder)) {
    const times: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      const startedAt = performance.now();
      await read(gateway.url, gateway.login, path);
      times.push(performance.now() - startedAt);
    }
    const [first = 0, ...later] = times;
    say(`${name.padEnd(44)} ${first.toFixed(0).padStart(6)} ${median(later).toFixed(1).padStart(8)}`);
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** Starts a daemon without data and one with it in turns, as other work on the machine slows both. */
async function compareStarts(folder: string, count: number): Promise<void> {
  const empty = mkdtempSync(join(tmpdir(), 'gateway-growth-empty-'));
  try {
    writeFileSync(join(empty, 'config.yaml'), 'local_servers: false\n');
    await stopProcess((await start(empty)).child);
    const times = new Map<string, number[]>([
      [empty, []],
      [folder, []],
    ]);
    for (let round = 0; round < count; round += 1) {
      for (const [each, measured] of times) {
        const { child, answeredAfterMs } = await start(each);
        await stopProcess(child);
        measured.push(answeredAfterMs);
      }
    }
    const [without = 0, withCalls = 0] = [...times.values()].map(median);
    say(
      `${count} starts each: answered after ${withCalls.toFixed(0)} ms, without calls ${without.toFixed(0)} ms`,
    );
  } finally {
    rmSync(empty, { recursive: true, force: true });
  }
}

async function measureStart(folder: string, name: string, seconds = 20): Promise<Gateway> {
  const gateway = await start(folder);
  const after = cpuSeconds(gateway.child.pid);
  await sleep(seconds * 1000);
  const cpu = cpuSeconds(gateway.child.pid);
  say(
    `${name}: answered after ${gateway.answeredAfterMs.toFixed(0)} ms, ${after.toFixed(2)} s of CPU by then and ` +
      `${(cpu - after).toFixed(2)} s in the next ${seconds} s, ${residentMb(gateway.child.pid).toFixed(0)} MB`,
  );
  return gateway;
}

async function run(): Promise<void> {
  const string = { type: 'string' } as const;
  const { values } = parseArgs({
    options: {
      rows: string,
      keys: string,
      'active-keys': string,
      days: string,
      folder: string,
      labelled: string,
      starts: string,
      help: { type: 'boolean' },
    },
  });
  if (values.help) {
    say(usage);
    return;
  }
  const folder = values.folder ?? mkdtempSync(join(tmpdir(), 'gateway-growth-'));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    await prepare(folder);
    const number = (value: string | undefined, standard: number) => Number(value ?? standard);
    const rows = number(values.rows, 1_000_000);
    const keys = number(values.keys, 100_000);
    const activeKeys = number(values['active-keys'], 1_000);
    const days = number(values.days, 365);
    fill(folder, { rows, keys, activeKeys, days, labelled: number(values.labelled, 0) });
    const { size } = statSync(join(folder, databaseFile));
    say(`${rows} calls, ${(size / 1e9).toFixed(2)} GB, ${(size / rows).toFixed(0)} bytes a call`);

    let gateway = await measureStart(folder, 'first start');
    await stopProcess(gateway.child);
    await compareStarts(folder, number(values.starts, 10));
    gateway = await measureStart(folder, 'start after a clean stop', 60);
    say(`${'read'.padEnd(44)}  first   median, ms`);
    await measureReads(gateway, folder);
    gateway.child.kill('SIGKILL');
    while (!isGone(gateway.child)) await sleep(5);
    gateway = await measureStart(folder, 'start after a kill');
    say('reads during the check that follows it');
    await measureReads(gateway, folder);
    const startedAt = performance.now();
    const cpuBefore = cpuSeconds(gateway.child.pid);
    const answer = await read(gateway.url, gateway.login, '/v1/admin/ledger/verify', {});
    const cpu = cpuSeconds(gateway.child.pid) - cpuBefore;
    const seconds = (performance.now() - startedAt) / 1000;
    say(`ledger verify ${seconds.toFixed(1)} s, ${cpu.toFixed(1)} s of CPU: ${answer.slice(0, 200)}`);
    await stopProcess(gateway.child);
  } finally {
    if (values.folder === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

await run();
