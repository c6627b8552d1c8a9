import { type ChildProcess, spawn } from 'node:child_process';
import { Semaphore } from '../../../shared/async/semaphore.ts';
import { whenAborted } from '../../../shared/async/when-aborted.ts';
import { childEnvironment } from '../../../shared/masking/child-environment.ts';
import type { World } from '../../base/world.ts';
import type { Hook, HookReply } from '../../features/guardrails/index.ts';

/** A changed request is as long as one. */
const answerBytesMax = 64 * 1024 ** 2;
const errorBytesMax = 4_096;
/** Programs that run at a time; further questions wait, which is part of their time. */
const programsMax = 16;
/** The exit code of a program that refuses; its error output is the sentence. */
const refusedCode = 2;

/** Asks the programs and addresses of hooks. */
export function createAskHook({ send }: Pick<World, 'send'>, env: NodeJS.ProcessEnv) {
  const programs = new Semaphore(() => programsMax);
  const variables = childEnvironment(env);
  return async (hook: Hook, question: string, signal: AbortSignal): Promise<HookReply> => {
    const { command, url } = hook;
    if (command !== undefined)
      return await programs.run(() => runProgram(command, { question, signal, variables }), { signal });
    if (url === undefined) throw new TypeError('a hook has a command or an address');
    return await post({ send }, { ...hook, url }, { question, signal });
  };
}

interface Question {
  question: string;
  signal: AbortSignal;
}

async function post(
  { send }: Pick<World, 'send'>,
  { url, headers }: Pick<Hook, 'headers'> & { url: string },
  { question, signal }: Question,
): Promise<HookReply> {
  const { status, body } = await send({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    addedHeaders: headers,
    body: question,
    signal,
  });
  if (status !== 200 && status !== 204) {
    body.cancel();
    throw new Error(`it answered with status ${status}`);
  }
  return { kind: 'answer', text: Buffer.from(await body.bytes(answerBytesMax)).toString() };
}

/** Without a shell, and without the variables that have secrets. */
async function runProgram(
  [file = '', ...args]: readonly string[],
  { question, signal, variables }: Question & { variables: Record<string, string> },
): Promise<HookReply> {
  signal.throwIfAborted();
  const child: ChildProcess = spawn(file, args, { env: variables, stdio: 'pipe', windowsHide: true });
  const ended = new Promise<number | string>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, killedBy) => resolve(code ?? killedBy ?? 1));
  });
  const stop = () => {
    child.kill('SIGKILL');
    // What it started may still have them.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
  };
  const stopWatching = whenAborted(signal, stop);
  const output = collect(child.stdout, answerBytesMax, stop);
  const errors = collect(child.stderr, errorBytesMax, () => {});
  // A program that does not read its input closes it.
  child.stdin?.on('error', () => {});
  child.stdin?.end(question);
  try {
    const end = await ended;
    signal.throwIfAborted();
    if (end === refusedCode) return { kind: 'refusal', message: errors.text() };
    if (end !== 0)
      throw new Error(
        `it ended with ${typeof end === 'number' ? `exit code ${end}` : end}: ${errors.text().trim()}`,
      );
    return { kind: 'answer', text: output.text() };
  } finally {
    stopWatching();
  }
}

/** Up to so many bytes of a stream; what comes after them is read and left. */
function collect(stream: ChildProcess['stdout'], bytesMax: number, onTooMuch: () => void) {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream?.on('data', (chunk: Buffer) => {
    if (bytes <= bytesMax) chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > bytesMax) onTooMuch();
  });
  return { text: () => Buffer.concat(chunks).subarray(0, bytesMax).toString() };
}
