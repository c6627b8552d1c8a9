import { RecentMap } from '../../../shared/recent-map.ts';
import type { World } from '../../base/world.ts';
import type { DecisionRequest, NativeAnswer } from '../../features/decisions/index.ts';
import { type AttemptsCapture, UpstreamFailure } from '../../features/upstreams/upstream.ts';
import { type Json, parseObject } from '../json.ts';
import { upstreamFailureOf } from '../network-failures.ts';
import { openAiFailure } from '../providers/openai-chat/failure.ts';
import { errorStatusIn, readText } from '../response-body.ts';
import type { DecisionFormat } from './decision-format.ts';

const answerBytesMax = 1024 * 1024;
const errorBytesMax = 64 * 1024;

/** One decision endpoint of a server. */
export interface DecisionEndpoint {
  /** The server's name, for messages. */
  name: string;
  url: string;
  format: DecisionFormat;
}

export interface DecisionQuestion {
  model: string;
  key: string | undefined;
  request: DecisionRequest;
  /** Set for a decision whose content is kept. */
  capture?: AttemptsCapture | undefined;
}

/**
 * Sends a decision to an endpoint. Resolves to undefined if the server has no such endpoint, or the model makes no
 * decisions. Rejects with an `UpstreamFailure`.
 */
export async function sendDecision(
  send: World['send'],
  { name, url, format }: DecisionEndpoint,
  { model, key, request, capture }: DecisionQuestion,
  signal: AbortSignal,
): Promise<NativeAnswer | undefined> {
  try {
    const asked = {
      url,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify(format.body(request, model)),
    };
    const sent = capture?.sent(name, asked);
    const answer = await send({ method: 'POST', ...asked, signal, provider: name });
    sent?.received(answer);
    const { status, headers, body } = answer;
    if (status >= 400) {
      const text = await readText(body, errorBytesMax);
      sent?.refused(text);
      if (isUnknownEndpoint(status) || isAboutModel(status, text)) return undefined;
      throw openAiFailure(name, status, headers, text);
    }
    const text = Buffer.from(await body.bytes(answerBytesMax)).toString('utf8');
    const json = parseObject(text);
    // Web servers answer any path with a page.
    if (json === undefined) return undefined;
    const errorStatus = errorStatusIn(json);
    if (errorStatus !== undefined) {
      sent?.refused(text);
      throw openAiFailure(name, errorStatus, headers, text);
    }
    return format.read(json, request);
  } catch (error) {
    throw upstreamFailureOf(error, name);
  }
}

function isUnknownEndpoint(status: number): boolean {
  return status === 404 || status === 405 || status === 501;
}

/** Whether a server refused the model, as most of its models make no decisions. The questions are valid. */
function isAboutModel(status: number, text: string): boolean {
  if (status !== 400 && status !== 422) return false;
  const body = parseObject(text) ?? {};
  const { error = body } = body;
  const { param, code, message = '' } = typeof error === 'string' ? { message: error } : (error as Json);
  return (
    param === 'model' || /model/i.test(String(code ?? '')) || /\bmodels?\b|not support/i.test(String(message))
  );
}

/** How long it is remembered that a server or model has no decision endpoint. */
const absentMs = 10 * 60_000;
const absentMax = 1000;

/**
 * Asks the first of a server's endpoints that answers decisions. Endpoints that it does not have, or that do not accept the
 * model, are not tried again for ten minutes.
 */
export function decisionEndpoints(
  { send, elapsed }: Pick<World, 'send' | 'elapsed'>,
  endpoints: readonly DecisionEndpoint[],
) {
  const absentUntil = new RecentMap<string, number>(absentMax);
  return async (question: DecisionQuestion, signal: AbortSignal): Promise<NativeAnswer | undefined> => {
    for (const endpoint of endpoints) {
      const key = `${endpoint.url} ${question.model}`;
      if ((absentUntil.get(key) ?? 0) > elapsed()) continue;
      const answer = await sendDecision(send, endpoint, question, signal);
      if (answer !== undefined) return answer;
      absentUntil.set(key, elapsed() + absentMs);
    }
    return undefined;
  };
}

/** The failure of a server that was configured for decisions and has no endpoint for them. */
export function noDecisions(name: string): UpstreamFailure {
  return new UpstreamFailure('unknown-model', `${name} makes no decisions with this model`);
}
