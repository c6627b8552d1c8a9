/** Fills a data folder with finished calls and measures reads and starts; docs/performance.md explains the results. */

import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { settlementFor, type UsageRecord } from '../../src/daemon/features/metering/index.ts';
import { openForWriting } from '../../src/daemon/storage/sqlite/engine/connection.ts';
import { batchRunner, type Operation } from '../../src/daemon/storage/sqlite/engine/write-batch.ts';
import { settlementRow } from '../../src/daemon/storage/sqlite/metering/rows.ts';
import { createCommands } from '../../src/daemon/storage/sqlite/write-commands.ts';
import { noLabels } from '../../src/shared/call-labels.ts';
import { dataFiles } from '../../src/shared/folders.ts';
import { idMaker } from '../../src/shared/ids.ts';
import { cpuSeconds, isGone, residentMb, stopProcess } from './processes.ts';

const usage = `node test/bench/growth.ts [options]     (after npm run build)
  --rows N         finished calls (1000000); ten million take about ten minutes and 8 GB
  --keys N         keys (100000)
  --active-keys N  keys that make the calls (1000)
  --days N         days that the calls are spread over (365)
  --starts N       starts of a daemon without data and of one with it, in turns (10)
  --folder DIR     keep the data in this folder; if it has calls, none are added
`;

const dayMs = 86_400_000;
const databaseFile = 'gateway.db';
const program = fileURLToPath(new URL('../../bin/gateway.js', import.meta.url));
const say = (line: string) => process.stdout.write(`${line}\n`);

interface Gateway {
  child: ChildProcess;
  url: string;
  /** From the start of the process to the answer of a model call, milliseconds. */
  answeredAfterMs: number;
  key: string;
  login: string;
}

async function start(folder: string): Promise<Gateway> {
  const log = openSync(join(folder, 'output.log'), 'a');
  const { PATH, TMPDIR } = process.env;
  // Compiled code is kept from run to run, as it is by a user's daemons.
  const cache = join(tmpdir(), 'node-compile-cache');
  const env = { PATH, TMPDIR, HOME: folder, GATEWAY_HOME: folder, NODE_COMPILE_CACHE: cache };
  // Left by a daemon that was killed.
  rmSync(join(folder, dataFiles.daemon), { force: true });
  const startedAt = performance.now();
  const args = [program, 'serve', '--port', '0'];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', log, log] });
  closeSync(log);
  const file = join(folder, dataFiles.daemon);
  while (!existsSync(file) && !isGone(child)) await sleep(1);
  if (isGone(child)) throw new Error(readFileSync(join(folder, 'output.log'), 'utf8'));
  await sleep(2);
  const { url } = JSON.parse(readFileSync(file, 'utf8')) as { url: string };
  const key = readFileSync(join(folder, dataFiles.defaultKey), 'utf8').trim();
  await read(url, key, '/v1/responses', { model: 'sim/assistant', input: 'hello' });
  const answeredAfterMs = performance.now() - startedAt;
  const login = readFileSync(join(folder, dataFiles.login), 'utf8').trim();
  return { child, url, answeredAfterMs, key, login };
}

/** Without the time limit of `fetch`, which a verification of millions of calls exceeds before its answer begins. */
async function read(url: string, token: string, path: string, body?: object): Promise<string> {
  const call = request(url + path, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  });
  call.end(body && JSON.stringify(body));
  const [answer] = (await once(call, 'response')) as [IncomingMessage];
  const content = await text(answer);
  if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode} ${content}`);
  return content;
}

const models = [
  ['openai', 'gpt-5'],
  ['openai', 'gpt-5-mini'],
  ['anthropic', 'claude-sonnet-4-5'],
  ['anthropic', 'claude-haiku-4-5'],
  ['google', 'gemini-3-flash'],
] as const;
const rareModel = ['google', 'gemini-3-pro'] as const;
const clients = ['claude-cli/2.1.4', 'codex_cli_rs/0.60.1', 'OpenAI/Python', 'curl/8.9.1'];
const pricesOf = Object.fromEntries(
  [...models, rareModel].map(([, model], index) => [
    model,
    { input: 1_000_000 * (index + 1), cachedInput: 100_000, cacheWrite: 0, output: 10_000_000 },
  ]),
);

interface FillOptions {
  rows: number;
  keys: number;
  activeKeys: number;
  days: number;
}

/** Settles calls as the writer thread does, but without waiting for the disk. */
function fill(folder: string, { rows, keys, activeKeys, days }: FillOptions): void {
  const database = openForWriting(join(folder, databaseFile));
  database.pragma('synchronous = OFF');
  const found = database.prepare<[], number>('SELECT count(*) FROM calls').pluck().get() ?? 0;
  if (found < rows) {
    const keyIds = addKeys(database, keys).slice(0, activeKeys);
    const workspaceId = database.prepare<[], string>('SELECT id FROM workspaces').pluck().get() ?? '';
    const { commands, totals } = createCommands(database);
    const run = batchRunner(database, commands, totals);
    let at = Date.now() - days * dayMs;
    const makeId = idMaker(() => Math.floor(at), randomBytes);
    for (let row = 0; row < rows; row += 512) {
      const batch: Operation[] = [];
      for (let index = row; index < Math.min(row + 512, rows); index += 1) {
        at += (days * dayMs) / (rows + 1);
        const call = aCall(index, { at: Math.floor(at), workspaceId, keyIds, makeId });
        batch.push(['metering.settleWithoutHold', settlementRow(settlementFor(call))]);
      }
      const result = run(batch);
      if ('failure' in result || result.failed.length > 0) throw new Error(JSON.stringify(result));
      if (row % 512_000 === 0) process.stderr.write(`${row} of ${rows} calls\n`);
    }
  }
  database.pragma('wal_checkpoint(TRUNCATE)');
  database.close();
}

function addKeys(database: ReturnType<typeof openForWriting>, count: number): string[] {
  const makeId = idMaker(Date.now, randomBytes);
  const insert = database.prepare<[{ id: string; digest: string }]>(
    `INSERT INTO keys (id, workspace_id, owner_id, name, digest, hint, scopes, created_at)
     SELECT @id, id, (SELECT id FROM users), @id, @digest, 'gwk_…', '["responses"]', ${Date.now()} FROM workspaces`,
  );
  const ids = Array.from({ length: count }, () => makeId('key'));
  database.transaction(() => {
    for (const id of ids) insert.run({ id, digest: randomBytes(32).toString('base64url') });
  })();
  return ids;
}

interface CallContext {
  at: number;
  workspaceId: string;
  keyIds: readonly string[];
  makeId: ReturnType<typeof idMaker>;
}

/** Spreads the keys over the models and failures, which follow each other in turns. */
function scatter(index: number): number {
  return Math.imul(index, 0x9e3779b1) >>> 8;
}

/** One call in 50 fails, one in 10,000 is of the rare model. */
function aCall(index: number, { at, workspaceId, keyIds, makeId }: CallContext): UsageRecord {
  const [provider, model] =
    index % 10_000 === 7 ? rareModel : (models[(index * 7) % models.length] ?? rareModel);
  const hasFailed = index % 50 === 3;
  const cost = { provider: 1_200_000 + (index % 977), margin: 60_000, total: 1_260_000 + (index % 977) };
  const [status, errorCode] = hasFailed
    ? (['failed', 'upstream_error'] as const)
    : (['completed', null] as const);
  return {
    requestId: makeId('req'),
    responseId: makeId('resp'),
    workspaceId,
    keyId: keyIds[scatter(index) % keyIds.length] ?? null,
    endpoint: '/v1/responses',
    model: `${provider}/${model}`,
    provider,
    streamed: index % 2 === 0,
    ownKey: false,
    status,
    errorCode,
    tokens: {
      input: 800 + (index % 100),
      cachedInput: 200,
      cacheWrite: 0,
      output: 130 + (index % 300),
      reasoning: 64,
    },
    tokensReported: true,
    cost,
    charged: cost.total,
    prices: pricesOf[model] ?? null,
    labels: { ...noLabels, client: clients[index % clients.length] ?? null },
    cache: null,
    httpStatus: 200,
    attempts: [{ provider, model, status: hasFailed ? 500 : 200, errorCode, ms: 412.3 + (index % 17) }],
    ttftMs: 413,
    totalMs: 2_211 + (index % 1_000),
    createdAt: at - 2_211,
    completedAt: at,
    trace: {
      admittedMs: 0.8,
      heldMs: index % 2 === 0 ? 2.1 : null,
      startedMs: [1.1],
      finishReason: hasFailed ? null : 'stop',
      routes: [{ provider, model }],
    },
  };
}

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
    ['usage since ever, by day', '/v1/usage?since=2000-01-01'],
    ['usage since ever, by model', '/v1/usage?since=2000-01-01&group_by=model'],
    ['usage since ever, by key', '/v1/usage?since=2000-01-01&group_by=key'],
    ['usage since ever, by key of a model', '/v1/usage?since=2000-01-01&group_by=key&model=openai/gpt-5'],
    ['usage of 30 days, by key', '/v1/usage?group_by=key'],
    ['usage since ever, of a key', `/v1/usage?since=2000-01-01&key=${key}`],
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
    writeFileSync(join(folder, 'config.yaml'), 'local_servers: false\n');
    if (!existsSync(join(folder, databaseFile))) await stopProcess((await start(folder)).child);
    const number = (value: string | undefined, standard: number) => Number(value ?? standard);
    const rows = number(values.rows, 1_000_000);
    const keys = number(values.keys, 100_000);
    const activeKeys = number(values['active-keys'], 1_000);
    fill(folder, { rows, keys, activeKeys, days: number(values.days, 365) });
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
