import { createChatCompletion } from '../../../shared/contract/chat-completions.ts';
import { compactResponse } from '../../../shared/contract/compaction.ts';
import { createEmbedding } from '../../../shared/contract/embeddings.ts';
import type { Endpoint } from '../../../shared/contract/endpoint.ts';
import { createMessage } from '../../../shared/contract/messages.ts';
import { connectResponses } from '../../../shared/contract/response-socket.ts';
import { createResponse } from '../../../shared/contract/responses.ts';
import { subscriberNetwork } from '../../../shared/http/network-address.ts';
import type { FailedRequest } from '../../base/failed-request.ts';
import { type Caller, credentialId, KeyRefused } from '../../base/handler.ts';
import { readLabels, readUser } from '../calls/index.ts';
import { type Rejections, reasonOf } from './rejections.ts';

const modelEndpoints: readonly Endpoint[] = [
  createResponse,
  createChatCompletion,
  createMessage,
  compactResponse,
  createEmbedding,
  connectResponses,
];
const modelPaths = new Set(modelEndpoints.map(({ path }) => path));
const charactersMax = 200;
const leftBeforeAnswer = {
  errorCode: 'client_left',
  param: null,
  message: 'The client left before the call was accepted.',
};

/** The endpoint of a metric's label. The path of a failed request can be anything. */
export function knownEndpoint(path: string): string {
  return modelPaths.has(path) ? path : 'other';
}

/** Reports failed requests for model calls as rejected calls. */
export function rejectedRequests(
  rejections: Rejections,
  capture: { rejectedRequest(failed: FailedRequest): void },
): (failed: FailedRequest) => void {
  return (failed) => {
    if (!isForModelCall(failed)) return;
    const { requestId, caller, remoteAddress, headers, error, status, body, durationMs } = failed;
    const { workspaceId, keyId } = ownerOf(caller, error);
    const { model, stream } = (body ?? {}) as { model?: unknown; stream?: unknown };
    rejections.onFailedRequest({
      requestId,
      workspaceId,
      keyId,
      address: workspaceId === null ? subscriberNetwork(remoteAddress) : null,
      endpoint: failed.endpoint?.path ?? pathOf(failed.url).slice(0, charactersMax),
      model: typeof model === 'string' ? model.slice(0, charactersMax) : null,
      streamed: stream === true,
      httpStatus: status,
      ...(error === undefined ? leftBeforeAnswer : reasonOf(error)),
      totalMs: Math.round(durationMs),
      // The other labels may be what the request failed for.
      labels: {
        ...readLabels({ 'user-agent': headers['user-agent'] }),
        user: workspaceId === null ? null : readUser(headers, body),
      },
    });
    capture.rejectedRequest(failed);
  };
}

/** Whether a failed request was for a model call. A POST to an unknown path most often is one with a wrong base URL. */
export function isForModelCall({
  endpoint,
  method,
  url,
}: Pick<FailedRequest, 'endpoint' | 'method' | 'url'>) {
  if (endpoint !== undefined) return modelEndpoints.includes(endpoint);
  if (method === 'OPTIONS' || method === 'HEAD') return false;
  const path = pathOf(url);
  return modelPaths.has(path) || (method === 'POST' && !/^\/api(\/|$)/.test(path));
}

/** Without the query, which may contain anything. */
function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? '';
}

function ownerOf(caller: Caller, error: unknown): { workspaceId: string | null; keyId: string | null } {
  if (error instanceof KeyRefused) return error.key;
  if (caller.kind === 'anonymous') return { workspaceId: null, keyId: null };
  const { workspaceId } = caller;
  return { workspaceId, keyId: caller.kind === 'token' ? caller.tokenId : credentialId(caller) };
}
