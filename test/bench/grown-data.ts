/** Starts daemons over data folders, and fills them with finished calls. */

import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { settlementFor, type UsageRecord } from '../../src/daemon/features/metering/index.ts';
import { openForWriting } from '../../src/daemon/storage/sqlite/engine/connection.ts';
import { batchRunner, type Operation } from '../../src/daemon/storage/sqlite/engine/write-batch.ts';
import { settlementRow } from '../../src/daemon/storage/sqlite/metering/rows.ts';
import { indexKinds } from '../../src/daemon/storage/sqlite/metering/usage/index-kinds.ts';
import { createCommands } from '../../src/daemon/storage/sqlite/write-commands.ts';
import { type CallLabels, noLabels } from '../../src/shared/constants/call-labels.ts';
import { dataFiles } from '../../src/shared/folders.ts';
import { idMaker } from '../../src/shared/ids.ts';
import { isGone, stopProcess } from './processes.ts';

export const dayMs = 86_400_000;
export const databaseFile = 'gateway.db';
const program = fileURLToPath(new URL('../../bin/gateway.js', import.meta.url));

export interface Gateway {
  child: ChildProcess;
  url: string;
  /** From the start of the process to the answer of a model call, milliseconds. */
  answeredAfterMs: number;
  key: string;
  login: string;
}

export async function start(folder: string): Promise<Gateway> {
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
export async function read(url: string, token: string, path: string, body?: object): Promise<string> {
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

export interface FillOptions {
  rows: number;
  keys: number;
  activeKeys: number;
  days: number;
  /** The share of calls that name a user, a conversation and tags, from 0 to 1. */
  labelled: number;
}

/** Creates the data of a daemon in a folder that has none. */
export async function prepare(folder: string): Promise<void> {
  writeFileSync(join(folder, 'config.yaml'), 'local_servers: false\n');
  if (!existsSync(join(folder, databaseFile))) await stopProcess((await start(folder)).child);
}

/**
 * Settles calls as the writer thread does, but without waiting for the disk. Those that a folder lacks are added after its newest
 * one, within the last `days`.
 */
export function fill(folder: string, { rows, keys, activeKeys, days, labelled }: FillOptions): void {
  const database = openForWriting(join(folder, databaseFile));
  database.pragma('synchronous = OFF');
  const found = database.prepare<[], number>('SELECT count(*) FROM calls').pluck().get() ?? 0;
  if (found < rows) {
    const used = database
      .prepare<[], string>('SELECT text FROM names WHERE number IN (SELECT key FROM usage_keys)')
      .pluck()
      .all();
    const keyIds = used.length > 0 ? used : addKeys(database, keys).slice(0, activeKeys);
    // Not the call that each start of a daemon makes, which is the newest of all.
    const newest = database
      .prepare<[string], number | null>(
        `SELECT max(completed_at) FROM call_index
         WHERE kind = ${indexKinds.model} AND value = (SELECT names.number FROM names WHERE text = ?)`,
      )
      .pluck()
      .get(models[0].join('/'));
    const workspaceId = database.prepare<[], string>('SELECT id FROM workspaces').pluck().get() ?? '';
    const { commands, totals } = createCommands(database);
    const run = batchRunner(database, commands, totals);
    let at = Math.max(newest ?? 0, Date.now() - days * dayMs);
    const step = (Date.now() - at) / (rows - found + 1);
    const makeId = idMaker(() => Math.floor(at), randomBytes);
    for (let row = found; row < rows; row += 512) {
      const batch: Operation[] = [];
      for (let index = row; index < Math.min(row + 512, rows); index += 1) {
        at += step;
        const call = aCall(index, { at: Math.floor(at), workspaceId, keyIds, makeId, labelled });
        batch.push(['metering.settleWithoutHold', settlementRow(settlementFor(call))]);
      }
      const result = run(batch);
      if ('failure' in result || result.failed.length > 0) throw new Error(JSON.stringify(result));
      if ((row - found) % 512_000 === 0) process.stderr.write(`${row} of ${rows} calls\n`);
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
  labelled: number;
}

/** Spreads the keys over the models and failures, which follow each other in turns. */
function scatter(index: number): number {
  return Math.imul(index, 0x9e3779b1) >>> 8;
}

/** Agents' conversations have 25 calls. */
function labelsOf(index: number, labelled: number): CallLabels {
  const client = clients[index % clients.length] ?? null;
  if (scatter(index) % 1_000 >= labelled * 1_000) return { ...noLabels, client };
  return {
    client,
    user: `user-${scatter(index) % 400}`,
    conversation: `conversation-${Math.floor(index / 25)}`,
    tags: { team: `team-${index % 12}`, job: `job-${Math.floor(index / 5_000)}` },
    replayOf: null,
  };
}

/** One call in 20 takes longer and costs more than the others, up to 64 times. */
function weightOf(index: number): number {
  return index % 20 === 11 ? 2 + (scatter(index) % 63) ** 2 / 63 : 1;
}

/** One call in 50 fails, one in 40 after another provider did, and one in 10,000 is of the rare model. */
function aCall(index: number, { at, workspaceId, keyIds, makeId, labelled }: CallContext): UsageRecord {
  const [provider, model] =
    index % 10_000 === 7 ? rareModel : (models[(index * 7) % models.length] ?? rareModel);
  const hasFailed = index % 50 === 3;
  const weight = weightOf(index);
  const provided = Math.round(weight * (1_200_000 + (index % 977)));
  const cost = { provider: provided, margin: 60_000, total: provided + 60_000 };
  const totalMs = Math.round(weight * (2_211 + (index % 1_000)));
  const isSecondAttempt = index % 40 === 9;
  const first = { provider: 'azure', model, status: 429, errorCode: 'rate_limited', ms: 212.4 };
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
    labels: labelsOf(index, labelled),
    cache: null,
    httpStatus: 200,
    attempts: [
      ...(isSecondAttempt ? [first] : []),
      { provider, model, status: hasFailed ? 500 : 200, errorCode, ms: 412.3 + (index % 17) },
    ],
    ttftMs: 413,
    totalMs,
    createdAt: at - totalMs,
    completedAt: at,
    trace: {
      admittedMs: 0.8,
      heldMs: index % 2 === 0 ? 2.1 : null,
      startedMs: isSecondAttempt ? [1.1, 214.2] : [1.1],
      finishReason: hasFailed ? null : 'stop',
      routes: [{ provider, model }],
    },
  };
}
