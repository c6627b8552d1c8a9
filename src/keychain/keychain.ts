import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { childEnvironment } from '../shared/masking/child-environment.ts';
import { KeychainFailure } from './keychain-failure.ts';
import { type KeychainAnswer, type KeychainRequest, started } from './protocol.ts';

/**
 * Secrets of this program in the operating system's keychain, under the service `gateway`. Each call runs in a process
 * of its own that is killed on timeout. Rejects only with a KeychainFailure.
 */
export interface Keychain {
  /**
   * Undefined if there is no such item. Where the platform cannot distinguish it, also for a locked keychain: callers
   * that expect an item must read undefined as "locked or missing" and never replace it.
   */
  get(account: string): Promise<string | undefined>;
  /** Writes or replaces an item and reads it back. `value` is 1 to 1,200 visible ASCII characters. */
  set(account: string, value: string): Promise<void>;
  /** Whether there was such an item. */
  delete(account: string): Promise<boolean>;
}

export interface KeychainOptions {
  /** How long the keychain may take: 5,000 for a daemon, 60,000 where a person can type a password. */
  timeoutMs: number;
  /** The child's environment; default: this process's. */
  env?: Record<string, string | undefined>;
  /** The program to start, and what starts it; tests replace them. */
  script?: URL;
  start?: typeof spawn;
}

/** For the start of the child, which takes seconds on a machine that has much to do; the keychain is not at fault. */
const startMs = 30_000;

// Windows stores at most 2,560 bytes per credential, two per character.
const value = /^[\x21-\x7e]{1,1200}$/;

/** Accesses nothing until a method is called. */
export function openKeychain(options: KeychainOptions): Keychain {
  const ask = (request: DistributedOmit<KeychainRequest, 'limitMs'>) =>
    askChild({ ...request, limitMs: options.timeoutMs }, options);
  return {
    get: async (account) => (await ask({ action: 'get', account })).value ?? undefined,
    async set(account, secret) {
      if (!value.test(secret)) throw new TypeError('a keychain accepts 1 to 1,200 visible ASCII characters');
      await ask({ action: 'set', account, value: secret });
    },
    delete: async (account) => (await ask({ action: 'delete', account })).wasDeleted ?? false,
  };
}

type DistributedOmit<T, K extends string> = T extends unknown ? Omit<T, K> : never;
type Success = Extract<KeychainAnswer, { ok: true }>;

/** Secrets travel over pipes: other users can read a process's arguments and variables. */
async function askChild(
  request: KeychainRequest,
  { env, script, start = spawn }: KeychainOptions,
): Promise<Success> {
  const ending = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
  const program = script ?? new URL(`./keychain-child${ending}`, import.meta.url);
  const child: ChildProcess = start(process.execPath, [fileURLToPath(program)], {
    env: { ...childEnvironment(env ?? process.env), NODE_OPTIONS: undefined },
    stdio: ['pipe', 'pipe', 'ignore'],
    windowsHide: true,
  });
  // Must have a listener first: with too many open files, nothing was started and the pipes are missing.
  const ended = new Promise<string>((resolve, reject) => {
    child.on('error', reject);
    child.once('close', (code, signal) => resolve(signal ?? `exit ${code}`));
  });
  let isLate = false;
  const end = () => {
    isLate = true;
    child.kill('SIGKILL');
  };
  let timer = setTimeout(end, startMs);
  const chunks: Buffer[] = [];
  child.stdout?.once('data', () => {
    clearTimeout(timer);
    timer = setTimeout(end, request.limitMs);
  });
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk));
  // It may have ended before reading its input; its answer, or the lack of one, is reported instead.
  child.stdin?.on('error', () => {});
  child.stdin?.end(JSON.stringify(request));
  try {
    const end = await ended;
    if (isLate) throw new KeychainFailure('timed-out');
    return read(Buffer.concat(chunks), end);
  } catch (error) {
    if (error instanceof KeychainFailure) throw error;
    throw new KeychainFailure('failed', (error as Error).message);
  } finally {
    clearTimeout(timer);
    for (const chunk of chunks) chunk.fill(0);
  }
}

function read(bytes: Buffer, end: string): Success {
  if (bytes.length <= started.length) throw new KeychainFailure('failed', `its process ended with ${end}`);
  const answer = JSON.parse(bytes.toString('utf8')) as KeychainAnswer;
  if (!answer.ok) throw new KeychainFailure(answer.fault, answer.detail);
  return answer;
}
