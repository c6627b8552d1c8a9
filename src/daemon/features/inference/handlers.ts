import { createChatCompletion } from '../../../shared/contract/chat-completions.ts';
import {
  createResponse,
  deleteResponse,
  getResponse,
  type ResponseResource,
} from '../../../shared/contract/responses.ts';
import { ApiError } from '../../../shared/errors.ts';
import { type Handler, identified, implement } from '../../handler.ts';
import type { InferenceNeeds } from './begin.ts';
import { complete } from './chat-completions/complete.ts';
import { quoted } from './fault.ts';
import { respond } from './responses/respond.ts';

/** Handlers only translate: contract in, one feature call, contract out. */
export function inferenceHandlers(needs: InferenceNeeds): Handler[] {
  return [
    implement(createResponse, async ({ caller, requestId, signal, body, headers }) =>
      respond(needs, {
        caller: identified(caller),
        requestId,
        signal,
        body,
        // The stream helper of one SDK refuses events that it does not know, and announces itself so.
        strictEvents: headers['x-stainless-helper-method'] === 'stream',
      }),
    ),

    implement(createChatCompletion, async ({ caller, requestId, signal, body }) =>
      complete(needs, { caller: identified(caller), requestId, signal, body }),
    ),

    implement(getResponse, async ({ caller, params }) => {
      const { workspaceId } = identified(caller);
      const stored = await needs.responses.byId(workspaceId, params.id, needs.world.now());
      if (!stored) throw new ApiError('not_found', { message: `There is no response ${quoted(params.id)}.` });
      return JSON.parse(stored.body) as ResponseResource;
    }),

    implement(deleteResponse, async ({ caller, params }) => {
      const { workspaceId } = identified(caller);
      const removed = await needs.responses.remove(workspaceId, params.id);
      if (!removed)
        throw new ApiError('not_found', { message: `There is no response ${quoted(params.id)}.` });
      return { id: params.id, object: 'response', deleted: true };
    }),
  ];
}
