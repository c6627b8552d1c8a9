/** Measures what clients that only hold connections cost: streams that nobody reads, and followers of events. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { dataFiles } from '../../src/shared/folders.ts';
import { firstAnswer, prepareHome, startGateway } from './gateway-process.ts';
import { cpuSeconds, residentMb, stopProcess } from './processes.ts';
import type { Running } from './systems.ts';
import { modelName, paths, requestBody } from './wires.ts';

const usage = `npm run bench -- crowd [options]     (after npm run build)
  --streams N      streams that nobody reads (100)
  --followers N    followers of /v1/events (10000); each takes two open files, see ulimit -n
  --calls N        calls that all of them follow, one after the other (20)
  --heap-mb N      most memory of V8's old generation, which else grows to several times of what is held before it is cleared
`;

const program = fileURLToPath(new URL('../../bin/gateway.js', import.meta.url));
const say = (line: string) => process.stdout.write(`${line}\n`);
const megabytes = (value: number) => `${value.toFixed(0)} MB`;
/** Connections that are opened at a time. */
const openedAtOnce = 200;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      streams: { type: 'string', default: '100' },
      followers: { type: 'string', default: '10000' },
      calls: { type: 'string', default: '20' },
      'heap-mb': { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return void process.stdout.write(usage);
  const provider = spawn(process.execPath, [fileURLToPath(new URL('mock-provider.ts', import.meta.url))], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const folder = mkdtempSync(join(tmpdir(), 'gateway-crowd-'));
  try {
    const [port] = (await once(provider, 'message')) as [number];
    prepareHome(folder, port);
    const heapMb = values['heap-mb'];
    const more = heapMb === undefined ? {} : { NODE_OPTIONS: `--max-old-space-size=${heapMb}` };
    const started = { folder, more };
    await withGateway(started, (gateway) => unreadStreams(gateway, Number(values.streams)));
    await withGateway(started, (gateway) =>
      followers(gateway, { folder, count: Number(values.followers), calls: Number(values.calls) }),
    );
  } finally {
    await stopProcess(provider as ChildProcess);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function withGateway(
  { folder, more }: { folder: string; more: NodeJS.ProcessEnv },
  measure: (gateway: Running) => Promise<void>,
): Promise<void> {
  const gateway = await startGateway(program, folder, undefined, more);
  try {
    await measure(gateway);
  } finally {
    await gateway.stop();
  }
}

/** Streams of some ten megabytes, of which each client reads nothing. */
async function unreadStreams(gateway: Running, count: number): Promise<void> {
  const { pid } = gateway.process;
  const before = residentMb(pid);
  const model = `mock-chat/${modelName({ tokens: 50_000, delayMs: 0 })}`;
  const body = requestBody('chat', model, { isStream: true });
  const sockets = await connectAll(gateway, count, `POST ${paths.chat}`, body);
  const highest = await highestMbUntilQuiet(pid);
  const lasting = residentMb(pid);
  say(`streams that nobody reads   ${count}`);
  say(
    `  memory                    ${megabytes(before)} before, at most ${megabytes(highest)}, then ${megabytes(lasting)}`,
  );
  say(`  of each                   at most ${((highest - before) / count).toFixed(2)} MB`);
  say(`  one call meanwhile        ${(await callMs(gateway)).toFixed(1)} ms`);
  for (const socket of sockets) socket.destroy();
  await sleep(20_000);
  say(`  memory 20 s after them    ${megabytes(residentMb(pid))}`);
}

interface FollowersOptions {
  folder: string;
  count: number;
  calls: number;
}

async function followers(gateway: Running, { folder, count, calls }: FollowersOptions): Promise<void> {
  const { pid } = gateway.process;
  const login = readFileSync(join(folder, dataFiles.login), 'utf8').trim();
  const alone: number[] = [];
  for (let at = 0; at < calls; at += 1) alone.push(await callMs(gateway));
  const before = residentMb(pid);
  let bytes = 0;
  const sockets = await connectAll(
    { ...gateway, headers: { authorization: `Bearer ${login}` } },
    count,
    'GET /v1/events',
    undefined,
    (received) => {
      bytes += received.length;
    },
  );
  await sleep(3_000);
  const idle = residentMb(pid);
  bytes = 0;
  const followed: number[] = [];
  let highest = idle;
  for (let at = 0; at < calls; at += 1) {
    followed.push(await callMs(gateway));
    highest = Math.max(highest, residentMb(pid));
    await sleep(500);
  }
  await sleep(2_000);
  say(`followers of events         ${count}`);
  say(
    `  memory                    ${megabytes(before)} before, ${megabytes(idle)} with them, at most ${megabytes(highest)}`,
  );
  say(
    `  of each                   ${(((idle - before) / count) * 1000).toFixed(1)} KB idle, at most ${(((highest - before) / count) * 1000).toFixed(1)} KB`,
  );
  say(`  events of a call          ${(bytes / count / calls).toFixed(0)} bytes to each`);
  say(`  a call without them       ${spread(alone)}`);
  say(`  a call with them          ${spread(followed)}`);
  for (const socket of sockets) socket.destroy();
  const leftAt = performance.now();
  for (const seconds of [5, 20, 60]) {
    await sleep(leftAt + seconds * 1000 - performance.now());
    await callMs(gateway);
    say(`  memory ${String(seconds).padStart(2)} s after them    ${megabytes(residentMb(pid))}`);
  }
}

/** Opens connections that send one request each; without `onData`, nothing is read from them. */
async function connectAll(
  { port, headers }: Pick<Running, 'port' | 'headers'>,
  count: number,
  line: string,
  body: string | undefined,
  onData?: (received: Buffer) => void,
): Promise<Socket[]> {
  const lines = [
    `${line} HTTP/1.1`,
    `host: 127.0.0.1:${port}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined
      ? []
      : ['content-type: application/json', `content-length: ${Buffer.byteLength(body)}`]),
  ];
  const request = `${lines.join('\r\n')}\r\n\r\n${body ?? ''}`;
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const opened = Array.from({ length: Math.min(openedAtOnce, count - sockets.length) }, async () => {
      const socket = connect(port, '127.0.0.1');
      sockets.push(socket);
      socket.on('error', () => socket.destroy());
      await once(socket, 'connect');
      socket.write(request);
      if (!onData) return;
      const [first] = (await once(socket, 'data')) as [Buffer];
      if (!first.toString('latin1', 0, 15).includes('200')) throw new Error(first.toString().slice(0, 500));
      socket.on('data', onData);
    });
    await Promise.all(opened);
  }
  return sockets;
}

/** The highest memory until the process rests: what the system's own buffers take is sent first. */
async function highestMbUntilQuiet(pid: number | undefined): Promise<number> {
  let highest = 0;
  let used = cpuSeconds(pid);
  for (let at = 1; at <= 1_200; at += 1) {
    await sleep(100);
    highest = Math.max(highest, residentMb(pid));
    if (at % 20 > 0) continue;
    const now = cpuSeconds(pid);
    if (now - used < 0.1) break;
    used = now;
  }
  return highest;
}

/** How long one short call takes. */
async function callMs(gateway: Running): Promise<number> {
  const startedAt = performance.now();
  await firstAnswer({ ...gateway, model: `mock-chat/${modelName({ tokens: 50, delayMs: 0 })}` });
  return performance.now() - startedAt;
}

function spread(times: readonly number[]): string {
  const sorted = [...times].sort((a, b) => a - b);
  const middle = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  return `${middle.toFixed(1)} ms in the middle, at most ${(sorted.at(-1) ?? Number.NaN).toFixed(1)} ms`;
}

await main();
