import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { modelCallBodyLimit, modelCallErrors, modelCallHeaders } from './model-call.ts';
import { ResponseUsage } from './response-events.ts';
import { CreateResponseBody } from './responses.ts';
import { ServiceAnswer } from './service-member.ts';
import { AnyObject } from './vocabulary.ts';

/** A conversation made short. Source: the Open Responses specification, CompactResource. */
export const CompactedConversation = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('response.compaction'),
    created_at: Type.Integer({ description: 'Unix seconds.' }),
    output: Type.Array(AnyObject, {
      description:
        'The messages of user, developer and system as they were, then one item of type `compaction`. Send all of it back as the beginning of a new `input`.',
    }),
    usage: ResponseUsage,
    service: Type.Optional(ServiceAnswer),
  },
  { $id: 'CompactedConversation', additionalProperties: true },
);

export type CompactedConversation = Static<typeof CompactedConversation>;

/** Makes a conversation short: what it came to, in one sealed item. */
export const compactResponse = endpoint({
  id: 'compactResponse',
  method: 'POST',
  path: '/v1/responses/compact',
  summary: 'Compact a conversation.',
  description: [
    'Takes the body of a create call: `model`, and the conversation as `input`, `previous_response_id` or both. The model',
    'that is asked for writes a summary, which comes back sealed: only this workspace can use it, and what was changed or',
    'made elsewhere is refused, with `param` naming the item. Nothing is stored; it is metered as any call. A create',
    'call does the same within its `output` when the last item of its `input` is `{"type": "compaction_trigger"}`, and by itself with',
    '`context_management: [{"type": "compaction", "compact_threshold": TOKENS}]` once its input is longer than that.',
  ].join(' '),
  tag: 'Model calls',
  access: { apiKey: 'responses', login: 'any', agent: true },
  surface: 'v1',
  unauthorizedType: 'unauthorized',
  body: CreateResponseBody,
  bodyRequired: true,
  bodyLimit: modelCallBodyLimit,
  result: CompactedConversation,
  responseHeaders: modelCallHeaders,
  errors: [...modelCallErrors, 'previous_response_not_found', 'not_found'],
});
