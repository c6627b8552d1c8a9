/** Measures every read of every screen over a folder of finished calls; docs/performance.md explains the results. */

import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openForWriting } from '../../src/daemon/storage/sqlite/engine/connection.ts';
import type { TraceView } from '../../src/shared/contract/traces.ts';
import { databaseFile, dayMs, fill, type Gateway, prepare, read, start } from './grown-data.ts';
import { cpuSeconds, stopProcess } from './processes.ts';

const usage = `npm run bench -- screens [options]     (after npm run build)
  --rows N         finished calls (1000000); ten million take about ten minutes and 10 GB
  --labelled SHARE calls with a user, a conversation and tags, from 0 to 1 (0.1)
  --rounds N       how often each read is made (20)
  --max-ms N       fail if a 95th percentile is above (none)
  --folder DIR     keep the data in this folder; if it has calls, none are added
  --bytes          also measure the bytes a call by table, which reads the whole file
`;

const say = (line: string) => process.stdout.write(`${line}\n`);
const zone = 'tz=Europe/Berlin';
const ago = (days: number) => new Date(Date.now() - days * dayMs).toISOString();

/** A screen, with the paths that it reads by what they are for. */
type Screen = [name: string, reads: Record<string, string>];

interface Known {
  key: string;
  request: string;
  conversation: string;
}

/** Values that the calls of the folder have. */
async function knownIn({ url, login }: Gateway): Promise<Known> {
  const newest = async (q: string) => {
    const page = JSON.parse(await read(url, login, `/v1/traces?limit=1&q=${encodeURIComponent(q)}`));
    return (page as { data: TraceView[] }).data[0];
  };
  const call = await newest('endpoint:responses client:codex_cli_rs');
  return {
    key: call?.key ?? '',
    request: call?.request_id ?? '',
    conversation: (await newest('user:user-7'))?.conversation ?? '',
  };
}

function overview(days: number, bucket: string): Screen {
  const range = `since=${ago(days)}&${zone}`;
  return [
    `overview, ${days} d`,
    {
      'figures with the period before': `/v1/usage/series?since=${ago(2 * days)}&${zone}&bucket=${bucket}`,
      'cost by model': `/v1/usage/series?${range}&bucket=${bucket}&group_by=model&top=7`,
      errors: `/v1/usage/series?${range}&bucket=${bucket}&group_by=status`,
      'latency by time': `/v1/usage/latency?${range}&bucket=${days > 7 ? 'day' : 'hour'}`,
      latency: `/v1/usage/latency?${range}`,
      'latency before': `/v1/usage/latency?since=${ago(2 * days)}&until=${ago(days)}&${zone}`,
      'top keys': `/v1/usage/series?${range}&bucket=${bucket}&group_by=key&top=5`,
      'top clients': `/v1/usage?since=${ago(days)}&group_by=client&limit=100`,
      'newest call': '/v1/traces?fields=brief&limit=1',
    },
  ];
}

function callList({ key, conversation }: Known): Screen {
  const queries: Record<string, string> = {
    all: '',
    failed: 'status:failed',
    'canceled, which none is': 'status:canceled',
    'a model by pattern': 'model:anthropic/*',
    'a rare model': 'model:google/gemini-3-pro',
    'a provider that failed': 'provider:azure',
    'an error': 'error:upstream_error',
    'a key': `key:${key}`,
    'a client': 'client:codex_cli_rs',
    'without clients': '-client:curl,claude-cli',
    'a user': 'user:user-7',
    'a conversation': `conversation:${conversation}`,
    'a tag': 'tag:team=team-3',
    'longer than 4 s': '>4s',
    'longer than any': '>600s',
    'dearer than 1 cent': '>$0.01',
    'dearer than any': '>$900',
    'failed of a client and model': 'status:failed client:curl model:openai/gpt-5',
    'a day half a year ago': `since:${ago(180)} until:${ago(179)}`,
    'a rare model of a key': `model:google/gemini-3-pro key:${key}`,
  };
  const reads: Record<string, string> = {};
  for (const [name, query] of Object.entries(queries)) {
    const q = query === '' ? '' : `q=${encodeURIComponent(query)}`;
    reads[`list: ${name}`] = `/v1/traces?${q}&limit=50&fields=brief`;
    reads[`facets: ${name}`] = `/v1/traces/facets?${q}`;
  }
  return [
    'calls',
    {
      ...reads,
      'list: longest of a day': `/v1/traces?sort=total_ms&limit=50&since=${ago(1)}`,
      'list: longest of a year': `/v1/traces?sort=total_ms&limit=50&since=${ago(365)}`,
      'list: dearest of a week': `/v1/traces?sort=cost&limit=50&since=${ago(7)}`,
      'histogram of a day': `/v1/usage/series?since=${ago(1)}&bucket=15m&${zone}`,
      'histogram of a day, failed': `/v1/usage/series?since=${ago(1)}&bucket=15m&${zone}&status=failed`,
    },
  ];
}

function aCall({ key, request, conversation }: Known): Screen {
  const before = `until=${ago(1)}&limit=20&status=completed,incomplete,failed,canceled,interrupted`;
  return [
    'call',
    {
      trace: `/v1/traces/${request}`,
      'previous of the conversation': `/v1/traces?${before}&endpoint=/v1/responses&conversation=${conversation}`,
      'previous of the key': `/v1/traces?${before}&endpoint=/v1/responses&key=${key}&model=openai/gpt-5`,
      'previous of the key and client': `/v1/traces?${before}&key=${key}&client=curl/8.9.1`,
      replays: `/v1/traces?replay_of=${request}&fields=brief&limit=20`,
    },
  ];
}

function usageScreen(days: number, bucket: string): Screen {
  const range = `since=${ago(days)}&${zone}`;
  const reads: Record<string, string> = {};
  for (const by of ['model', 'provider', 'key', 'status'])
    reads[`by ${by}`] = `/v1/usage/series?${range}&bucket=${bucket}&group_by=${by}&top=7`;
  for (const by of ['client', 'user', 'tag', 'error'])
    reads[`by ${by}`] = `/v1/usage?since=${ago(days)}&group_by=${by}`;
  for (const by of ['day,model', 'model,provider', 'model,status', 'provider,status'])
    reads[`by ${by}`] = `/v1/usage?${range}&group_by=${by}`;
  for (const by of ['day', 'model', 'provider', 'status'])
    reads[`by ${by} and key`] = `/v1/usage?since=${ago(days)}&group_by=${by},key`;
  reads['by key and status'] = `/v1/usage?since=${ago(days)}&group_by=key,status`;
  return [
    `usage, ${days} d`,
    {
      ...reads,
      'the period before': `/v1/usage/series?since=${ago(2 * days)}&until=${ago(days)}&${zone}&bucket=${bucket}`,
      latency: `/v1/usage/latency?${range}&bucket=${days > 7 ? 'day' : 'hour'}&group_by=model`,
      'without price': `/v1/usage?since=${ago(days)}&group_by=model`,
    },
  ];
}

function otherScreens({ key }: Known): Screen[] {
  return [
    [
      'usage, a year',
      {
        'weeks by model': `/v1/usage/series?since=${ago(360)}&${zone}&bucket=week&group_by=model&top=7`,
        'months by key': `/v1/usage/series?since=${ago(360)}&bucket=month&group_by=key&top=7`,
        'of a key': `/v1/usage?since=${ago(360)}&key=${key}`,
        'by model': `/v1/usage?since=${ago(360)}&group_by=model`,
      },
    ],
    [
      'keys and limits',
      {
        keys: '/v1/workspaces/me/keys?limit=100',
        budgets: '/v1/workspaces/me/budgets',
        alerts: '/v1/workspaces/me/alerts',
        login: '/v1/key',
      },
    ],
    [
      'providers',
      {
        'health of 24 h': '/v1/providers/health',
        'health of 7 d': `/v1/providers/health?since=${ago(7)}`,
        models: '/v1/models',
      },
    ],
  ];
}

const percentile = (values: readonly number[], share: number) =>
  values[Math.min(values.length - 1, Math.ceil(values.length * share) - 1)] ?? 0;

/** Returns the names of reads whose 95th percentile is above `maxMs`. */
async function measure(
  { child, url, login }: Gateway,
  screens: readonly Screen[],
  { rounds, maxMs }: { rounds: number; maxMs: number },
): Promise<string[]> {
  const slow: string[] = [];
  say(`${''.padEnd(58)}   p50   p95   max  CPU, ms`);
  for (const [screen, reads] of screens) {
    for (const [name, path] of Object.entries(reads)) {
      // What a screen reads first after a pause starts the reader.
      await read(url, login, path);
      const times: number[] = [];
      const cpuBefore = cpuSeconds(child.pid);
      for (let round = 0; round < rounds; round += 1) {
        const startedAt = performance.now();
        await read(url, login, path);
        times.push(performance.now() - startedAt);
      }
      const cpu = ((cpuSeconds(child.pid) - cpuBefore) * 1000) / rounds;
      times.sort((a, b) => a - b);
      const [p50, p95] = [percentile(times, 0.5), percentile(times, 0.95)];
      const figures = [p50, p95, times.at(-1) ?? 0].map((ms) => ms.toFixed(1).padStart(6)).join('');
      const isSlow = p95 > maxMs;
      if (isSlow) slow.push(`${screen}: ${name}`);
      say(
        `${`${screen}: ${name}`.padEnd(58)}${figures}  ${cpu.toFixed(1).padStart(6)}${isSlow ? '  slow' : ''}`,
      );
    }
  }
  return slow;
}

const labelTables = /label/;

/** Reads the whole file. */
function sayBytes(folder: string): void {
  const database = openForWriting(join(folder, databaseFile));
  const sizes = database
    .prepare<[], { name: string; bytes: number }>(
      'SELECT name, sum(pgsize) AS bytes FROM dbstat WHERE aggregate = TRUE GROUP BY name ORDER BY bytes DESC',
    )
    .all();
  const calls = database.prepare<[], number>('SELECT count(*) FROM calls').pluck().get() ?? 1;
  database.close();
  const sum = (of: typeof sizes) => of.reduce((total, { bytes }) => total + bytes, 0) / calls;
  for (const { name, bytes } of sizes.slice(0, 20))
    say(`${name.padEnd(32)} ${(bytes / calls).toFixed(1).padStart(8)}`);
  const labels = sum(sizes.filter(({ name }) => labelTables.test(name)));
  say(`${sum(sizes).toFixed(0)} bytes a call, of which ${labels.toFixed(0)} are for labels`);
}

async function run(): Promise<void> {
  const string = { type: 'string' } as const;
  const boolean = { type: 'boolean' } as const;
  const { values } = parseArgs({
    options: {
      rows: string,
      labelled: string,
      rounds: string,
      'max-ms': string,
      folder: string,
      bytes: boolean,
      help: boolean,
    },
  });
  if (values.help) {
    say(usage);
    return;
  }
  const folder = values.folder ?? mkdtempSync(join(tmpdir(), 'gateway-screens-'));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    await prepare(folder);
    const rows = Number(values.rows ?? 1_000_000);
    const labelled = Number(values.labelled ?? 0.1);
    fill(folder, { rows, keys: 100_000, activeKeys: 1_000, days: 365, labelled });
    say(`${(statSync(join(folder, databaseFile)).size / 1e9).toFixed(2)} GB`);
    if (values.bytes) sayBytes(folder);
    const gateway = await start(folder);
    const known = await knownIn(gateway);
    const screens = [
      overview(1, '15m'),
      overview(7, 'hour'),
      overview(30, 'day'),
      callList(known),
      aCall(known),
      usageScreen(1, 'hour'),
      usageScreen(30, 'day'),
      usageScreen(90, 'day'),
      ...otherScreens(known),
    ];
    const maxMs = Number(values['max-ms'] ?? Number.POSITIVE_INFINITY);
    try {
      const slow = await measure(gateway, screens, { rounds: Number(values.rounds ?? 20), maxMs });
      if (slow.length > 0) process.exitCode = 1;
    } finally {
      await stopProcess(gateway.child);
    }
  } finally {
    if (values.folder === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

await run();
