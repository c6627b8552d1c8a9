import { ApiError } from '../../../shared/errors.ts';
import type { Json } from '../../../shared/faults/invalid-request.ts';
import { type Cost, costOf, noCost, type Tokens } from '../../../shared/money/money.ts';
import { RecentMap } from '../../../shared/recent-map.ts';
import type { World } from '../../base/world.ts';
import { noTokens } from '../calls/index.ts';
import type { Offer } from '../catalog/index.ts';
import type { ProviderRoute, Router } from '../routing/index.ts';
import type { Inference } from '../upstreams/neutral.ts';
import { type AttemptsCapture, UpstreamFailure } from '../upstreams/upstream.ts';
import type { Debiaser } from './debias.ts';
import { type AskOptions, addTokens, type DecisionSource, type SourceAnswer } from './decision-source.ts';
import type { HostBudget } from './host-budget.ts';
import { type CallModel, type ModelQuestion, readReply } from './model-call.ts';
import { type AskNative, batchesOf, nativeDebias, verified } from './native-answers.ts';
import type { DecisionRequest, Option, QuestionAnswer } from './question.ts';
import { askForProbabilities } from './sampling.ts';
import { askForLetter, lettersMax, type ModelHabits, NoTokenProbabilities } from './token-probabilities.ts';

/** Calls of one decision that run at the same time at a provider. */
const concurrentMax = 8;
/** How long a model without token probabilities is asked for samples right away. */
const rememberMs = 10 * 60_000;
const rememberedMax = 1000;

export interface ProviderSourceDeps {
  router: Router<ProviderRoute>;
  /** The decision endpoint of a provider; undefined if it has none that is known. */
  nativeOf: (provider: string) => AskNative | undefined;
  keyFor: (route: ProviderRoute) => string | undefined | Promise<string | undefined>;
  debiaser: Debiaser;
  budget: HostBudget;
  world: Pick<World, 'elapsed' | 'randomBytes'>;
  memory: ModelMemory;
  /** A text as it is sent on a route: without what is not to leave. */
  redacted?: (text: string, route: ProviderRoute) => string;
}

/** Learned properties of models: their habits, and which of them report no token probabilities. */
export class ModelMemory {
  readonly #world: Pick<World, 'elapsed'>;
  readonly #habits = new RecentMap<string, ModelHabits>(rememberedMax);
  readonly #withoutProbabilities = new RecentMap<string, number>(rememberedMax);

  constructor(world: Pick<World, 'elapsed'>) {
    this.#world = world;
  }

  habitsOf(key: string): ModelHabits {
    let habits = this.#habits.get(key);
    if (habits === undefined) {
      habits = { withoutThinking: false };
      this.#habits.set(key, habits);
    }
    return habits;
  }

  lacksProbabilities(key: string): boolean {
    return (this.#withoutProbabilities.get(key) ?? 0) > this.#world.elapsed();
  }

  noteWithoutProbabilities(key: string): void {
    this.#withoutProbabilities.set(key, this.#world.elapsed() + rememberMs);
  }
}

/** A model at a provider as a source: by its decision endpoint, else by token probabilities, else by samples. */
export function providerSource(deps: ProviderSourceDeps, route: ProviderRoute): DecisionSource {
  return {
    name: route.provider,
    benchKey: `${route.account} ${route.providerModel}`,
    async decide(request, options, signal) {
      const { redacted } = deps;
      const sent = redacted ? redactedRequest(request, (text) => redacted(text, route)) : request;
      return await new UpstreamDecision(deps, route, { signal, capture: options.capture }).decide(
        sent,
        options,
      );
    },
  };
}

/** The values of options stay: they are not sent. */
function redactedRequest(
  { input, questions }: DecisionRequest,
  redacted: (text: string) => string,
): DecisionRequest {
  return {
    input: redacted(input),
    questions: questions.map(({ instructions, options, ...question }) => ({
      ...question,
      instructions: redacted(instructions),
      options: options.map(({ label, description, ...option }) => ({
        ...option,
        label: redacted(label),
        description: description && redacted(description),
      })),
    })),
  };
}

/** One decision at one route: counts what its calls use. */
class UpstreamDecision {
  readonly #deps: ProviderSourceDeps;
  readonly #route: ProviderRoute;
  readonly #signal: AbortSignal;
  readonly #capture: AttemptsCapture | undefined;
  readonly #limited = concurrencyLimit(concurrentMax);
  #tokens: Tokens = noTokens;
  /** Whether the decision endpoint calibrated all its answers. */
  #calibrated = true;

  constructor(
    deps: ProviderSourceDeps,
    route: ProviderRoute,
    { signal, capture }: { signal: AbortSignal; capture: AttemptsCapture | undefined },
  ) {
    this.#deps = deps;
    this.#route = route;
    this.#signal = signal;
    this.#capture = capture;
  }

  async decide(request: DecisionRequest, options: AskOptions): Promise<SourceAnswer> {
    const native = await this.#askNative(request, options);
    if (native) return this.#answer(native, 'native');
    const { memory } = this.#deps;
    const { offer } = this.#route;
    const key = `${this.#route.provider} ${this.#route.providerModel}`;
    if (offer.capabilities.logprobs !== false && !memory.lacksProbabilities(key)) {
      try {
        return this.#answer(await this.#askForLetters(request, options, key), 'token_probabilities');
      } catch (error) {
        if (!lacksTokenProbabilities(error)) throw error;
        memory.noteWithoutProbabilities(key);
      }
    }
    const answers = await Promise.all(
      request.questions.map((question) =>
        askForProbabilities(request.input, question, this.#call, {
          samples: options.samples,
          randomBytes: (count) => this.#deps.world.randomBytes(count),
        }),
      ),
    );
    return this.#answer(answers, 'sampled');
  }

  /** Undefined if the provider has no decision endpoint for the model. */
  async #askNative(
    { input, questions }: DecisionRequest,
    { debias }: AskOptions,
  ): Promise<QuestionAnswer[] | undefined> {
    const { nativeOf, keyFor, budget, debiaser } = this.#deps;
    const route = this.#route;
    const ask = nativeOf(route.provider);
    if (ask === undefined) return undefined;
    const model = route.providerModel;
    const askBatch = async (batch: DecisionRequest['questions']) => {
      this.#signal.throwIfAborted();
      if (!route.ownKey) budget.check(route.offer);
      const call = {
        model,
        key: await keyFor(route),
        request: { input, questions: batch },
        capture: this.#capture,
      };
      const answer = await ask(call, this.#signal);
      if (answer === undefined) throw new NoDecisionEndpoint();
      this.#count(answer.tokens);
      this.#calibrated &&= answer.calibrated ?? false;
      return verified(batch, answer);
    };
    try {
      return await debiaser.answer(questions, nativeDebias(debias, model), async (asked) => {
        const ordered = asked.map(({ question, order }) => ({
          ...question,
          options: order.map((index) => question.options[index] as Option),
        }));
        const batches = batchesOf(input, ordered).map((batch) => this.#limited(() => askBatch(batch)));
        return (await Promise.all(batches)).flat();
      });
    } catch (error) {
      if (error instanceof NoDecisionEndpoint) return undefined;
      throw error;
    }
  }

  async #askForLetters(
    { input, questions }: DecisionRequest,
    { debias }: AskOptions,
    model: string,
  ): Promise<QuestionAnswer[]> {
    const habits = this.#deps.memory.habitsOf(model);
    return await this.#deps.debiaser.answer(
      questions,
      { mode: debias, model, optionsMax: lettersMax },
      (asked) => Promise.all(asked.map((each) => askForLetter(input, each, this.#call, habits))),
    );
  }

  readonly #call: CallModel = (question) => this.#limited(() => this.#ask(question));

  async #ask(question: ModelQuestion) {
    const { router, budget } = this.#deps;
    const route = this.#route;
    this.#signal.throwIfAborted();
    if (!route.ownKey) budget.check(route.offer);
    try {
      const { answer, ended } = await router.open({
        routes: [route],
        inference: inferenceFor(question, route.offer),
        outputTokensMaxFor: () => question.outputTokensMax,
        signal: this.#signal,
        attempts: [],
        capture: this.#capture,
        onAttempt: () => {},
      });
      const { reply, tokens } = await readReply(answer).catch((error) => {
        if (error instanceof UpstreamFailure) ended({ failure: error });
        throw error;
      });
      ended({ outputTokens: tokens?.output ?? 0 });
      if (tokens) this.#count(tokens);
      return reply;
    } catch (error) {
      // The router reports the provider's failure as the cause of its own error.
      throw error instanceof ApiError && error.cause instanceof UpstreamFailure ? error.cause : error;
    }
  }

  #count(tokens: Tokens): void {
    this.#tokens = addTokens(this.#tokens, tokens);
    if (!this.#route.ownKey) this.#deps.budget.spend(costAt(this.#route.offer, tokens)?.provider ?? 0);
  }

  #answer(answers: readonly QuestionAnswer[], method: SourceAnswer['method']): SourceAnswer {
    const { offer, ownKey } = this.#route;
    return {
      model: offer.model,
      method,
      answers,
      calibrated: method === 'native' && this.#calibrated,
      tokens: this.#tokens,
      cost: costAt(offer, this.#tokens),
      ownKey,
    };
  }
}

class NoDecisionEndpoint extends Error {
  constructor() {
    super('the provider has no decision endpoint for this model');
    this.name = 'NoDecisionEndpoint';
  }
}

/** Whether a model refused the request for probabilities, or its answer had none. */
function lacksTokenProbabilities(error: unknown): boolean {
  if (error instanceof NoTokenProbabilities) return true;
  if (!(error instanceof UpstreamFailure) || error.kind !== 'caller') return false;
  const { code, param } = error.details;
  if (code === 'context_length_exceeded') return false;
  return code === 'unsupported_value' || (typeof param === 'string' && optionsSent.test(param));
}

const optionsSent =
  /logprobs|max_(output_|completion_)?tokens|reasoning|think|chat_template_kwargs|response_format/;

/** Free of charge: decisions have no margin. */
function costAt({ prices }: Offer, tokens: Tokens): Cost | null {
  if (prices === null) return null;
  return tokens === noTokens ? noCost : costOf(prices, tokens, 0);
}

/** A chat completion in the neutral form; a provider with the chat format gets `body`. */
export function inferenceFor(
  { system, user, outputTokensMax, topLogprobs, withoutThinking, schema }: ModelQuestion,
  { kind, model }: Pick<Offer, 'kind' | 'model'>,
): Inference {
  const messages = [
    { role: 'system', content: system },
    { role: 'user', content: user },
  ] as const;
  const format = schema && { name: 'probabilities', strict: true, schema };
  const body: Json = {
    model,
    messages,
    max_tokens: outputTokensMax,
    ...(topLogprobs !== undefined && { logprobs: true, top_logprobs: topLogprobs }),
    ...(format && { response_format: { type: 'json_schema', json_schema: format } }),
    ...(withoutThinking && thinkingOff(kind)),
  };
  return {
    wire: 'chat',
    model,
    stream: false,
    items: messages.map(({ role, content }) => ({
      type: 'message',
      role,
      content: [{ type: 'text', text: content }],
    })),
    instructions: undefined,
    tools: [],
    toolChoice: undefined,
    parallelToolCalls: undefined,
    format: format && { type: 'json_schema', description: undefined, ...format },
    verbosity: undefined,
    outputTokensMax,
    sampling: topLogprobs === undefined ? {} : { topLogprobs, needsLogprobs: true },
    reasoning: withoutThinking ? { effort: 'none', summary: undefined } : undefined,
    body,
  };
}

/** How servers of a kind are kept from thinking. Hosted ones refuse members that they do not know. */
function thinkingOff(kind: Offer['kind']): Json {
  if (kind === 'openrouter') return { reasoning: { effort: 'none' } };
  const effort = { reasoning_effort: 'none' };
  if (kind !== 'local' && kind !== 'compatible') return effort;
  return { ...effort, think: false, chat_template_kwargs: { enable_thinking: false } };
}

/** Runs at most `most` functions at a time, in order. */
function concurrencyLimit(most: number) {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    running += 1;
    try {
      return await work();
    } finally {
      running -= 1;
      waiting.shift()?.();
    }
  };
}
