import { type Static, Type } from 'typebox';
import { endpoint } from './endpoint.ts';
import { LabelHeaders, modelCallBodyLimit, modelCallErrors, modelCallHeaders } from './model-call.ts';
import { ResponseUsage } from './response-resource.ts';
import { CreateResponseBody } from './responses.ts';
import { ServiceAnswer } from './service-member.ts';
import { AnyObject } from './vocabulary.ts';

/** A compacted conversation. Source: the Open Responses specification, CompactResource. */
export const CompactedConversation = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('response.compaction'),
    created_at: Type.Integer({ description: 'Unix seconds.' }),
    output: Type.Array(AnyObject, {
      description:
        'The user, developer and system messages unchanged, then one item of type `compaction`, which summarises everything else, the assistant’s messages included. Send all of it as the start of the next `input`.',
    }),
    usage: ResponseUsage,
    service: Type.Optional(ServiceAnswer),
  },
  { $id: 'CompactedConversation', additionalProperties: true },
);

export type CompactedConversation = Static<typeof CompactedConversation>;

export const compactResponse = endpoint({
  id: 'compactResponse',
  method: 'POST',
  path: '/v1/responses/compact',
  summary: 'Compact a conversation.',
  description: [
    'Accepts the body of a create call: `model`, and the conversation as `input`, `previous_response_id` or both. The model',
    'writes a summary that is returned sealed: only this workspace can use it, and an item that was changed or created',
    'elsewhere is rejected with its `param`. Nothing is stored; usage is metered like any call. A create call compacts',
    'within its `output` when the last item of its `input` is `{"type": "compaction_trigger"}`, and automatically with',
    '`context_management: [{"type": "compaction", "compact_threshold": TOKENS}]` once its input exceeds the threshold.',
  ].join(' '),
  tag: 'Model calls',
  access: { apiKey: 'responses', login: 'any', agent: true },
  unauthorizedType: 'unauthorized',
  payable: true,
  headers: LabelHeaders,
  body: CreateResponseBody,
  bodyRequired: true,
  bodyLimit: modelCallBodyLimit,
  result: CompactedConversation,
  responseHeaders: modelCallHeaders,
  errors: [...modelCallErrors, 'previous_response_not_found'],
});
