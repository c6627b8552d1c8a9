import { asApiError } from '../../../shared/errors.ts';
import type { JsonObject } from '../../../shared/json/json-object.ts';
import type { HookRun } from '../metering/index.ts';
import type { Route } from '../routing/index.ts';
import type { Batch, Inference } from '../upstreams/neutral.ts';
import type { JsonAnswer, StreamAnswer, UpstreamAnswer } from '../upstreams/upstream.ts';
import { type AskDeps, askHooks } from './ask-hooks.ts';
import { documentParts } from './document-parts.ts';
import { PendingEvents } from './pending-events.ts';
import type { Hook } from './settings.ts';
import { type AnswerPart, readChangedParts } from './verdict.ts';

/** What hooks are told of the text before a passage. */
const beforeCharactersMax = 4_000;

export interface AnswerQuestions {
  hooks: readonly Hook[];
  /** What hooks are told of the call. */
  about: object;
  inference: Inference;
  route: Route;
  signal: AbortSignal;
  runs: HookRun[];
}

/** An answer of which nothing passes that the hooks have not seen. Vectors pass. */
export async function guardedAnswer(
  deps: AskDeps,
  answer: UpstreamAnswer,
  questions: AnswerQuestions,
): Promise<UpstreamAnswer> {
  if (answer.kind === 'stream') return { ...answer, batches: guardedBatches(deps, answer, questions) };
  if (answer.kind !== 'json' || answer.failure) return answer;
  return await guardedDocument(deps, answer, questions);
}

async function* guardedBatches(
  deps: AskDeps,
  { batches }: StreamAnswer,
  questions: AnswerQuestions,
): AsyncGenerator<Batch> {
  const { hooks, inference } = questions;
  const window = inference.stream ? Math.max(...hooks.map((hook) => hook.window)) : Number.POSITIVE_INFINITY;
  const pending = new PendingEvents();
  let before = '';
  const pass = async (isLast: boolean) => {
    const passage = pending.take(isLast);
    if (passage.parts.length > 0) {
      await askHooks(deps, {
        ...questions,
        on: 'answer',
        question: () => questionOf(questions, { answer: passage.parts, before, is_last: isLast }),
        apply: (changed) => {
          passage.parts = readChangedParts(changed, passage.parts);
        },
      });
      before = (before + passage.text).slice(-beforeCharactersMax);
    }
    return passage.events();
  };
  for await (const batch of batches) {
    const events = pending.add(batch.events);
    if (inference.stream && pending.isDue(window)) events.push(...(await pass(false)));
    yield { events, frames: undefined };
  }
  yield { events: await pass(true), frames: undefined };
}

/** A refusal is the failure of the answer, so that what it took is counted. */
async function guardedDocument(
  deps: AskDeps,
  answer: JsonAnswer,
  questions: AnswerQuestions,
): Promise<JsonAnswer> {
  const json: JsonObject = structuredClone(answer.json);
  const found = documentParts(json, answer.wire);
  if (found.length === 0) return answer;
  let parts: AnswerPart[] = found.map(({ part }) => part);
  try {
    await askHooks(deps, {
      ...questions,
      on: 'answer',
      question: () => questionOf(questions, { answer: parts, before: '', is_last: true }),
      apply: (changed) => {
        parts = readChangedParts(changed, parts);
      },
    });
  } catch (error) {
    return { ...answer, failure: asApiError(error) };
  }
  for (const [at, { part, replace }] of found.entries()) {
    const changed = textOf(parts[at]);
    if (changed !== undefined && changed !== textOf(part)) replace(changed);
  }
  return { ...answer, json };
}

function questionOf({ about, route }: AnswerQuestions, passage: object) {
  return { on: 'answer', ...about, provider: route.provider, model: route.offer.model, ...passage };
}

function textOf(part: AnswerPart | undefined): string | undefined {
  return part?.type === 'text' ? part.text : part?.arguments;
}
