import { UpstreamFailure } from '../../../features/inference/upstream.ts';
import type { Answer, Content, Pace, PlannedCall, PlannedFailure } from '../answer.ts';
import type { Conversation } from '../conversation.ts';
import { planCall } from '../tool-choice.ts';
import { fillIn, type Matched, type Placeholders } from './match-rules.ts';
import type { Reply, ScriptedCall, ScriptedError } from './script.ts';

export interface ScriptedOptions {
  conversation: Conversation;
  /** The model's own pace. */
  pace: Pace;
  /** The model's answer without a script. */
  unscripted: () => Answer;
}

/** The answer of a rule. A rule without content changes how the model's own answer is delivered. */
export function scriptedAnswer({ reply, placeholders }: Matched, options: ScriptedOptions): Answer {
  const { conversation, pace, unscripted } = options;
  const content = contentOf(reply, placeholders, conversation);
  const isErrorAlone = reply.error !== undefined && reply.breakAfterTokens === undefined;
  const base: Answer = content || isErrorAlone ? { content: content ?? emptyContent, pace } : unscripted();
  return {
    content: {
      ...base.content,
      ...(reply.reasoning && { reasoning: fillIn(reply.reasoning, placeholders) }),
      finish: reply.finish ?? base.content.finish,
    },
    pace: {
      latencyMs: reply.latencyMs ?? base.pace.latencyMs,
      tokensPerSecond: reply.tokensPerSecond ?? base.pace.tokensPerSecond,
    },
    tokens: reply.tokens,
    failure: failureOf(reply, placeholders) ?? base.failure,
  };
}

const emptyContent: Content = { reasoning: [], calls: [], finish: 'stop' };

function contentOf(
  { text, json, refusal, calls }: Reply,
  placeholders: Placeholders,
  conversation: Conversation,
): Content | undefined {
  if (text === undefined && json === undefined && refusal === undefined && calls === undefined)
    return undefined;
  return {
    reasoning: [],
    text: json ? JSON.stringify(fillIn(json.value, placeholders)) : text && fillIn(text, placeholders),
    refusal: refusal && fillIn(refusal, placeholders),
    calls: (calls ?? []).map((call) => scriptedCall(call, placeholders, conversation)),
    finish: 'stop',
  };
}

function scriptedCall(
  call: ScriptedCall,
  placeholders: Placeholders,
  conversation: Conversation,
): PlannedCall {
  const { arguments: argumentValue } = call;
  const name = fillIn(call.name, placeholders);
  if (typeof argumentValue === 'string') return { name, arguments: fillIn(argumentValue, placeholders) };
  if (argumentValue !== undefined)
    return { name, arguments: JSON.stringify(fillIn(argumentValue, placeholders)) };
  const tool = conversation.tools.find((offered) => offered.name === name);
  return tool ? planCall(tool, conversation) : { name, arguments: '{}' };
}

function failureOf(reply: Reply, placeholders: Placeholders): PlannedFailure | undefined {
  const { error, breakAfterTokens } = reply;
  if (error) return { error: scriptedFailure(error, placeholders), afterTokens: breakAfterTokens };
  if (breakAfterTokens === undefined) return undefined;
  const broken = new UpstreamFailure('broken', 'The script breaks the answer off here.');
  return { error: broken, afterTokens: breakAfterTokens };
}

function scriptedFailure({ kind, message, details }: ScriptedError, placeholders: Placeholders) {
  const publicText = fillIn(message, placeholders);
  const publicMessage = details.publicMessage === undefined ? undefined : publicText;
  return new UpstreamFailure(kind, publicText, { ...details, publicMessage });
}
