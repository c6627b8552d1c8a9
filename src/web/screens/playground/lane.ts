import { signal } from '@preact/signals';
import type { Address } from '../../../shared/client.ts';
import type { CostPreview, previewResponse } from '../../../shared/contract/cost-preview.ts';
import type { createResponse } from '../../../shared/contract/responses.ts';
import type { TraceView } from '../../../shared/contract/traces.ts';
import { getTrace } from '../../../shared/endpoints.ts';
import { ReceivedError } from '../../../shared/faults/received-error.ts';
import { AnswerAssembler } from '../../../shared/formats/assemble-answer.ts';
import { prepareReplay, type ReplayedEndpoint } from '../../../shared/replay/prepare-replay.ts';
import { call, stream } from '../../data/api.ts';
import type { Draft, Json } from './draft.ts';

/** All formats are called the same way; the daemon checks the body. */
const callOf = (path: ReplayedEndpoint) => ({ method: 'POST', path }) as Address<typeof createResponse>;
const previewOf = (path: ReplayedEndpoint) =>
  ({ method: 'POST', path: path.replace('/v1/', '/v1/preview/') }) as Address<typeof previewResponse>;

/** Calls of the playground are found by this tag. */
const tags = 'source=playground';
const drawMs = 80;
/** The trace of a call is there once its settlement is. */
const traceTries = 10;
const traceWaitMs = 200;

/** One answer of a model. */
export interface Outcome {
  requestId: string | undefined;
  body: Json;
  answer: Json | undefined;
  error: unknown;
  trace: TraceView | undefined;
  isRunning: boolean;
}

/** A model beside others: its answers to the same request, the latest last. */
export class Lane {
  readonly outcomes = signal<readonly Outcome[]>([]);
  readonly isRunning = signal(false);
  #abort: AbortController | undefined;

  /** Asks the model as often as the draft says, one call after the other. */
  async run({ endpoint, body, repeat, replayOf }: Draft, model: string): Promise<void> {
    await this.#runAll(async (signal) => {
      for (let count = 0; count < repeat && !signal.aborted; count += 1) {
        const prepared = preparedFor(endpoint, body, model);
        await this.#ask(endpoint, prepared, replayOf, signal);
      }
    });
  }

  /** Asks again with a request that continues the latest answer. */
  async continueWith(endpoint: ReplayedEndpoint, body: Json): Promise<void> {
    await this.#runAll((signal) => this.#ask(endpoint, body, undefined, signal), this.outcomes.value);
  }

  stop(): void {
    this.#abort?.abort();
  }

  async #runAll(run: (signal: AbortSignal) => Promise<void>, before: readonly Outcome[] = []): Promise<void> {
    this.stop();
    const abort = new AbortController();
    this.#abort = abort;
    this.outcomes.value = before;
    this.isRunning.value = true;
    await run(abort.signal);
    if (this.#abort === abort) this.isRunning.value = false;
  }

  async #ask(
    endpoint: ReplayedEndpoint,
    body: Json,
    replayOf: string | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const earlier = this.outcomes.value;
    let outcome: Outcome = {
      requestId: undefined,
      body,
      answer: undefined,
      error: undefined,
      trace: undefined,
      isRunning: true,
    };
    const show = (changes: Partial<Outcome>) => {
      outcome = { ...outcome, ...changes };
      this.outcomes.value = [...earlier, outcome];
    };
    show({});
    const headers = { 'x-service-tags': tags, ...(replayOf && { 'x-service-replay-of': replayOf }) };
    const onOpen = (received: Record<string, string>) => show({ requestId: received['x-request-id'] });
    try {
      const answer = await answerOf(endpoint, body, {
        signal,
        headers,
        onOpen,
        onAnswer: (part) => show({ answer: part }),
      });
      show({ answer });
    } catch (error) {
      const requestId = error instanceof ReceivedError ? error.requestId : undefined;
      show({ requestId: requestId ?? outcome.requestId, ...(!signal.aborted && { error }) });
    }
    const trace = outcome.requestId === undefined ? undefined : await traceOf(outcome.requestId);
    show({ trace, isRunning: false });
  }
}

/** The most that a call would cost. */
export async function preview(
  { endpoint, body }: Draft,
  model: string,
  signal: AbortSignal,
): Promise<CostPreview> {
  const prepared = preparedFor(endpoint, body, model);
  return await call(previewOf(endpoint), { body: prepared as never }, { signal });
}

function preparedFor(endpoint: ReplayedEndpoint, body: Json, model: string): Json {
  const prepared = prepareReplay(endpoint, body, { model });
  return endpoint === '/v1/embeddings' ? prepared : { ...prepared, stream: true };
}

interface AnswerOptions {
  signal: AbortSignal;
  headers: Record<string, string>;
  onOpen: (headers: Record<string, string>) => void;
  /** Called with what there is of the answer, now and then. */
  onAnswer: (answer: Json) => void;
}

async function answerOf(
  endpoint: ReplayedEndpoint,
  body: Json,
  { onAnswer, ...options }: AnswerOptions,
): Promise<Json | undefined> {
  const input = { headers: {}, body: body as never };
  if (body.stream !== true) return (await call(callOf(endpoint), input, options)) as Json;
  const assembler = new AnswerAssembler();
  let drawnAt = 0;
  for await (const { data } of stream(callOf(endpoint), input, options)) {
    assembler.push(`data: ${data}\n`);
    if (performance.now() - drawnAt < drawMs) continue;
    drawnAt = performance.now();
    const answer = assembler.answer();
    if (answer) onAnswer(answer);
  }
  return assembler.answer();
}

async function traceOf(requestId: string): Promise<TraceView | undefined> {
  for (let tries = 0; tries < traceTries; tries += 1) {
    const trace = await call(getTrace, { params: { request_id: requestId } }).catch(() => undefined);
    if (trace) return trace;
    await new Promise((resolve) => setTimeout(resolve, traceWaitMs));
  }
  return undefined;
}
