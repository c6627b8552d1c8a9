import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { pipeline } from 'node:stream/promises';
import { Mutex } from '../../../shared/async/mutex.ts';
import { messageOf } from '../../../shared/faults/message-of.ts';
import { ChatModel } from './chat-model.ts';
import type { DecisionContext, LlamaLibrary, LlamaModel } from './llama.ts';
import type { DecideAnswer, DecideBody, DigestAnswer, FromModel, LoadMessage, ToModel } from './protocol.ts';
import { errorOf, type Reply, RequestFault } from './reply.ts';

/*
 * The process of one model, and the only module that loads node-llama-cpp: native code can crash, and models take more
 * memory than a daemon should.
 */

/** Questions of a decision that are computed together; each has a context of its own. */
const parallelQuestions = 4;
const memoryCheckMs = 250;

/** A loaded model. Contexts take memory, so that each is created when it is first needed. */
interface Loaded {
  path: string;
  model: LlamaModel;
  contextTokens: number;
  chat: () => Promise<ChatModel>;
  decisions: () => Promise<DecisionContext>;
}

const loading = Promise.withResolvers<Loaded>();
loading.promise.catch(() => {});
const running = new Map<number, AbortController>();

// A signal to the whole group reaches the daemon, too, which ends this process when its requests are done.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});
// Without the daemon, no one would ever end this process.
process.on('disconnect', () => process.exit(0));
process.on('message', (message: ToModel) => {
  if (message.type === 'load') void load(message);
  else if (message.type === 'ask') void answerAsked(message);
  else running.get(message.id)?.abort(new Error('canceled'));
});

function send(message: FromModel, sent?: () => void): void {
  process.send?.(message, undefined, {}, sent);
}

function fail(reason: string): void {
  send({ type: 'failed', reason }, () => process.exit(1));
}

async function load(message: LoadMessage): Promise<void> {
  // Where memory runs out, the system ends this process rather than the daemon.
  await writeFile('/proc/self/oom_score_adj', '1000').catch(() => {});
  watchMemory(message.memoryBytes);
  try {
    const loaded = await loadModel(message);
    loading.resolve(loaded);
    const { architecture } = loaded.model.fileInfo.metadata.general;
    send({ type: 'loaded', facts: { architecture, trainedTokens: loaded.model.trainContextSize } });
  } catch (error) {
    fail(messageOf(error));
  }
}

function watchMemory(memoryBytes: number): void {
  setInterval(() => {
    if (process.memoryUsage.rss() > memoryBytes)
      fail(`it takes more than ${Math.round(memoryBytes / 1024 ** 2)} MB of memory: raise engine.memory_mb`);
  }, memoryCheckMs).unref();
}

async function loadModel({ library, path, contextTokens }: LoadMessage): Promise<Loaded> {
  const llamaCpp = (await import(library)) as LlamaLibrary;
  const llama = await llamaCpp.getLlama({
    gpu: 'auto',
    build: 'never',
    logLevel: 'error',
    progressLogs: false,
    // Threads that compete for a core wait for each other, so that one core stays free for the daemon.
    maxThreads: Math.max(1, availableParallelism() - 1),
  });
  const model = await llama.loadModel({ modelPath: path });
  const contextSize = { max: Math.min(contextTokens, model.trainContextSize) };
  return {
    path,
    model,
    contextTokens: contextSize.max,
    chat: once(() => ChatModel.create({ llamaCpp, llama, model, contextSize })),
    decisions: once(() => model.createDecisionContext({ contextSize, parallelQuestions })),
  };
}

function once<T>(create: () => Promise<T>): () => Promise<T> {
  let created: Promise<T> | undefined;
  return () => {
    created ??= create().catch((error) => {
      created = undefined;
      throw error;
    });
    return created;
  };
}

async function answerAsked({ id, work, body }: Extract<ToModel, { type: 'ask' }>): Promise<void> {
  const controller = new AbortController();
  running.set(id, controller);
  let hasHead = false;
  const reply: Reply = {
    head(status, contentType) {
      hasHead = true;
      send({ type: 'head', id, status, contentType });
    },
    data: (text) => send({ type: 'data', id, text }),
  };
  try {
    const loaded = await loading.promise;
    if (work === 'chat') {
      await (await loaded.chat()).complete(body as Record<string, unknown>, reply, controller.signal);
    } else {
      const document =
        work === 'decide'
          ? await decisions.run(() => decide(loaded, body as DecideBody, controller.signal))
          : await digest(loaded.path);
      reply.head(200, 'application/json');
      reply.data(JSON.stringify(document));
    }
  } catch (error) {
    const { status, body: fault } = errorOf(error);
    const text = JSON.stringify(fault);
    const isStreaming = hasHead;
    if (!isStreaming) reply.head(status, 'application/json');
    reply.data(isStreaming ? `data: ${text}\n\n` : text);
  } finally {
    running.delete(id);
    send({ type: 'end', id });
  }
}

/** One at a time: the questions of a decision already share all sequences. */
const decisions = new Mutex();

async function decide(
  loaded: Loaded,
  { document, questions }: DecideBody,
  signal: AbortSignal,
): Promise<DecideAnswer> {
  signal.throwIfAborted();
  const context = await loaded.decisions();
  const asked = questions.map(({ instruction, options }, at) => {
    const criteria = Object.fromEntries(options.map((option, index) => [index, option]));
    return [`q${at}`, { type: 'choice' as const, instruction, criteria }] as const;
  });
  const { answers, tokenUsage } = await context
    .decideWithMeta(document, Object.fromEntries(asked), { signal })
    .catch((error: Error) => {
      if (!/context size|leave enough room/.test(error.message)) throw error;
      const message = `The prompt is too long: the input is longer than the ${loaded.contextTokens} tokens that the model can read.`;
      throw new RequestFault('context_length_exceeded', message, 'input');
    });
  return {
    probabilities: asked.map(([id, { criteria }]) =>
      Object.keys(criteria).map((index) => answers[id]?.probabilities[index] ?? Number.NaN),
    ),
    inputTokens: tokenUsage.input,
    outputTokens: tokenUsage.output,
  };
}

async function digest(path: string): Promise<DigestAnswer> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1024 ** 2 }), hash);
  return { sha256: hash.digest('hex') };
}
