import type { World } from '../../base/world.ts';
import type { Batch, Inference, InferenceEvent } from '../../features/upstreams/neutral.ts';
import { type Upstream, type UpstreamCall, UpstreamFailure } from '../../features/upstreams/upstream.ts';
import { droppedMembers, type Sent } from '../dropped-members.ts';
import { type Content, immediately, type Pace, type SimulatedAnswer } from './answer.ts';
import { assistantContent } from './assistant.ts';
import { type ComposeOptions, type Composition, compose, originOf, provider } from './compose.ts';
import { type Conversation, readConversation, takeWords } from './conversation.ts';
import { embed } from './embed.ts';
import { plural } from './format-text.ts';
import {
  type Behaviour,
  behaviourOf,
  brokenAfterTokens,
  contextLength,
  limitedRetryAfterSeconds,
  outputTokensMax,
  simulatorId,
  slowPace,
} from './models.ts';
import { createRuleMatcher } from './script/match-rules.ts';
import type { SimulatorScript } from './script/script-file.ts';
import { scriptedAnswer } from './script/scripted-answer.ts';

export interface SimulatorOptions {
  world: Pick<World, 'elapsed' | 'sleep'>;
  /** Call ids are the only part of an answer that differs between identical requests. */
  makeCallId: () => string;
  script?: SimulatorScript;
}

/**
 * Answers `sim/…` models without network access. The same request gets the same answer, except for call ids, the counter
 * of `sim/flaky` and rules with a limited number of answers.
 */
export function simulator({ world, makeCallId, script }: SimulatorOptions): Upstream {
  const rules = script && createRuleMatcher(script);
  const unscripted = createBehaviours();

  const plainAnswer = (call: UpstreamCall, id: string, conversation: Conversation): SimulatedAnswer => {
    const behaviour = behaviourOf(id) ?? (script?.models?.includes(id) ? 'assistant' : undefined);
    if (behaviour) return unscripted.answer(behaviour, call.inference, conversation, id);
    throw new UpstreamFailure('unknown-model', `the simulator has no model ${id}`, { status: 404 });
  };
  const answerTo = (call: UpstreamCall, id: string, conversation: Conversation): SimulatedAnswer => {
    const matched = rules?.find([id, call.model, call.inference.model], conversation);
    if (!matched && script?.strict) throw unmatched(script, id, conversation);
    if (!matched) return plainAnswer(call, id, conversation);
    return scriptedAnswer(matched, {
      conversation,
      pace: behaviourOf(id) === 'slow' ? slowPace : immediately,
      unscripted: () => plainAnswer(call, id, conversation),
    });
  };

  return {
    name: provider,
    countInput: async ({ inference }) => readConversation(inference).inputTokens,
    async open(call, signal) {
      const id = simulatorId(call.model);
      if (call.inference.embedding) return embed(id, call.inference.embedding);
      const conversation = readConversation(call.inference);
      if (conversation.inputTokens > contextLength) throw tooLong(conversation);
      const answer = answerTo(call, id, conversation);
      if (answer.pace.latencyMs > 0) await world.sleep(answer.pace.latencyMs, signal);
      signal.throwIfAborted();
      if (answer.failure?.afterTokens === undefined && answer.failure) throw answer.failure.error;
      const composition = compose(answer, composeOptions(call, id, conversation, makeCallId));
      const dropped = droppedMembers(call.inference, everyOption);
      return { kind: 'stream', batches: play(composition, answer.pace, world, signal), dropped };
    },
  };
}

function composeOptions(
  { inference, outputTokensMax: affordableTokens }: UpstreamCall,
  id: string,
  conversation: Conversation,
  makeCallId: () => string,
): ComposeOptions {
  const limits = [outputTokensMax, affordableTokens, inference.outputTokensMax].filter(
    (most) => most !== undefined,
  );
  return {
    tokensMax: Math.max(1, Math.min(...limits)),
    stop: inference.sampling.stop ?? [],
    topLogprobs: inference.sampling.topLogprobs,
    inputTokens: conversation.inputTokens,
    origin: originOf(id, conversation.turn),
    makeCallId,
  };
}

function tooLong({ inputTokens }: Conversation): UpstreamFailure {
  const message = `The prompt is too long: it has ${inputTokens} tokens; the simulator's models accept ${contextLength}.`;
  return new UpstreamFailure('caller', message, {
    status: 400,
    code: 'context_length_exceeded',
    publicMessage: message,
  });
}

// The message has what rules can match, but nothing from the conversation, since messages are logged.
function unmatched(script: SimulatorScript, id: string, conversation: Conversation): UpstreamFailure {
  const { turn, toolResults, tools } = conversation;
  const names = toolResults.map(({ name }) => name || 'a tool').join(', ');
  const end = toolResults.length > 0 ? `ends with a result of ${names}` : 'ends with a message';
  const message =
    `No rule of ${script.fileName} answers this request, and the script is strict ` +
    `(model ${id}, turn ${turn}, ${end}, ${plural(tools.length, 'tool')} offered).`;
  return new UpstreamFailure('caller', message, {
    status: 400,
    code: 'invalid_request',
    publicMessage: message,
  });
}

/** Options that only tune an answer need no effect here, so none counts as left out. */
const everyOption: Sent = {
  temperature: true,
  topP: true,
  topK: true,
  presencePenalty: true,
  frequencyPenalty: true,
  stop: true,
  seed: true,
  logprobs: true,
  verbosity: true,
  effort: true,
};

/** High enough for few batches per answer, low enough to notice soon that the client has left. */
const eventsPerBatch = 256;

/**
 * Streams the steps, all immediately or each at its time. A slow reader gets everything that has become due in one batch.
 * Rejects with the signal's reason when it is aborted.
 */
export async function* play(
  { steps, failure }: Composition,
  { tokensPerSecond }: Pace,
  world: Pick<World, 'elapsed' | 'sleep'>,
  signal: AbortSignal,
): AsyncGenerator<Batch> {
  const startedAt = tokensPerSecond === undefined ? 0 : world.elapsed();
  let events: InferenceEvent[] = [];
  let sent = 0;
  for (const { event, tokens } of steps) {
    if (tokensPerSecond !== undefined && tokens > 0) {
      const due = startedAt + (sent / tokensPerSecond) * 1000;
      if (due > world.elapsed() || events.length >= eventsPerBatch) {
        if (events.length > 0) yield { events, frames: undefined };
        events = [];
        const waitMs = due - world.elapsed();
        if (waitMs > 0) await world.sleep(Math.ceil(waitMs), signal);
        signal.throwIfAborted();
      }
      sent += tokens;
    } else if (events.length >= eventsPerBatch) {
      yield { events, frames: undefined };
      events = [];
      signal.throwIfAborted();
    }
    events.push(event);
  }
  if (events.length > 0) yield { events, frames: undefined };
  signal.throwIfAborted();
  if (failure) throw failure;
}

/** How the built-in models answer requests without a matching rule. Counts the calls of `sim/flaky`. */
function createBehaviours() {
  let flakyCalls = 0;

  return {
    answer(
      behaviour: Behaviour,
      inference: Inference,
      conversation: Conversation,
      model: string,
    ): SimulatedAnswer {
      const assistant = (): Content => assistantContent(inference, conversation, model);
      switch (behaviour) {
        case 'assistant':
          return { content: assistant(), pace: immediately };
        case 'echo':
          return { content: textContent(conversation.userText), pace: immediately };
        case 'slow':
          return { content: assistant(), pace: slowPace };
        case 'flaky':
          flakyCalls += 1;
          return flakyCalls % 2 === 1
            ? failureAnswer(
                new UpstreamFailure('server', 'sim/flaky fails every other call.', { status: 503 }),
              )
            : { content: assistant(), pace: immediately };
        case 'broken': {
          const error = new UpstreamFailure('broken', 'sim/broken always breaks off.');
          return {
            content: assistant(),
            pace: immediately,
            failure: { error, afterTokens: brokenAfterTokens },
          };
        }
        case 'limited':
          return failureAnswer(
            new UpstreamFailure('rate-limited', 'sim/limited is always rate limited.', {
              status: 429,
              retryAfterSeconds: limitedRetryAfterSeconds,
            }),
          );
        case 'refuses':
          return {
            content: {
              reasoning: [],
              refusal: 'I’m sorry, but I can’t help with that.',
              calls: [],
              finish: 'stop',
            },
            pace: immediately,
          };
        case 'filtered':
          return { content: filteredContent(inference, conversation, model), pace: immediately };
      }
    },
  };
}

function textContent(text: string): Content {
  return { reasoning: [], text, calls: [], finish: 'stop' };
}

function failureAnswer(error: UpstreamFailure): SimulatedAnswer {
  return { content: textContent(''), pace: immediately, failure: { error, afterTokens: undefined } };
}

/** The start of a text answer: tool calls are never filtered. */
function filteredContent(inference: Inference, conversation: Conversation, model: string): Content {
  const { text = '' } = assistantContent(inference, { ...conversation, tools: [] }, model);
  const { words } = takeWords(text, brokenAfterTokens);
  return { ...textContent(words.map((word) => word.text).join('')), finish: 'content_filter' };
}
