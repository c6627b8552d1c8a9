import { type IncomingAnswer, NetworkFailure, type OutgoingRequest, type World } from '../../base/world.ts';
import { BackendFailure } from '../../features/lightning/backend.ts';
import { type Json, parseObject } from '../json.ts';
import { readText } from '../response-body.ts';

/** For every call but payments, which may take long. */
export const nodeTimeoutMs = 10_000;
const answerBytesMax = 1024 * 1024;

/** What a node answered: `json` is undefined unless it is an object. */
export interface NodeAnswer {
  status: number;
  text: string;
  json: Json | undefined;
}

type NodeRequest = Pick<OutgoingRequest, 'method' | 'url' | 'headers'> & {
  body?: string;
  /** For the whole call. */
  timeoutMs?: number;
  /** The longest answer; a megabyte by default. */
  bytesMax?: number;
  signal?: AbortSignal;
};

/** Calls the HTTP API of a node. Fails with a BackendFailure of kind `unreachable`. */
export async function callNode(
  send: World['send'],
  { bytesMax = answerBytesMax, ...request }: NodeRequest,
): Promise<NodeAnswer> {
  const answer = await openNode(send, request);
  const text = await readText(answer.body, bytesMax).catch((error: unknown) => {
    throw unreachable(error);
  });
  return { status: answer.status, text, json: parseObject(text) };
}

/** The same for an answer that comes in parts. */
export async function openNode(
  send: World['send'],
  { timeoutMs = nodeTimeoutMs, ...request }: NodeRequest,
): Promise<IncomingAnswer> {
  try {
    return await send({ ...request, headersTimeoutMs: timeoutMs, totalTimeoutMs: timeoutMs });
  } catch (error) {
    throw unreachable(error);
  }
}

/** Other errors than failures of the network are returned unchanged. */
export function unreachable(error: unknown): unknown {
  if (!(error instanceof NetworkFailure)) return error;
  return new BackendFailure('unreachable', `${error.message}.`, { cause: error });
}
