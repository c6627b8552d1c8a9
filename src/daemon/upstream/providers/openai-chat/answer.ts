import type { Tokens } from '../../../../shared/money.ts';
import type { Batch, FinishReason } from '../../../features/inference/neutral.ts';
import { UpstreamFailure } from '../../../features/inference/upstream.ts';
import { isObject } from '../../answer-bodies.ts';
import { ChatDialect } from './decoder.ts';
import { flattenContent } from './reasoning.ts';
import { repairCalls } from './tool-calls.ts';
import { chatTokensIn, finishReasonOf, repairFinish } from './usage.ts';

/** Reads a whole chat completion, and puts right in place what clients of the format would stumble over. */
export function readChatAnswer(
  json: Record<string, unknown>,
  name: string,
): { tokens: Tokens | undefined; finish: FinishReason; isRepaired: boolean } {
  const choices = Array.isArray(json.choices) ? json.choices.filter(isObject) : [];
  const [first] = choices;
  if (first === undefined) throw new UpstreamFailure('broken', `${name} answered without a choice`);
  const reason = typeof first.finish_reason === 'string' ? first.finish_reason : 'stop';
  const finish = finishReasonOf(reason);
  if (finish === undefined)
    throw new UpstreamFailure('server', `${name} ended its answer with the reason "error"`);
  let isRepaired = false;
  for (const [place, choice] of choices.entries()) {
    const { message } = choice;
    if (!isObject(message)) throw new UpstreamFailure('broken', `${name} answered without a message`);
    if (typeof choice.index !== 'number') {
      choice.index = place;
      isRepaired = true;
    }
    if (flattenContent(message) !== undefined) isRepaired = true;
    if (repairCalls(message)) isRepaired = true;
    const hasCalls = Array.isArray(message.tool_calls) && message.tool_calls.length > 0;
    if (hasCalls && repairFinish(choice)) isRepaired = true;
  }
  return { tokens: chatTokensIn(json), finish, isRepaired };
}

/** The same as what a stream of one piece would have told. Of several choices it is the first. */
export function chatAnswerAsBatch(json: Record<string, unknown>, name: string, model: string): Batch {
  readChatAnswer(json, name);
  const batch: Batch = { events: [], frames: undefined };
  const dialect = new ChatDialect(name, model);
  dialect.take(json, '', batch);
  dialect.finish(batch, 'done-mark');
  return batch;
}
