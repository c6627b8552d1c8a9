import type { Backend, ScriptedReply } from './backend.ts';

/** The built-in simulator, which needs no server. */
export const simulator: Backend = {
  model: simulatedModel,
  otherModel: 'sim/echo',
  embeddingModel: 'sim/embedding',
  relays: [],
  refusal: 'message',
  namesParameters: false,
  brokenCode: 'upstream_failed',
  expectReasoning: () => {},
};

function simulatedModel({ refusal, finish, breaks }: ScriptedReply): string {
  if (refusal !== undefined) return 'sim/refuses';
  if (finish === 'content_filter') return 'sim/filtered';
  if (breaks === 'stall') return 'sim/slow';
  return breaks ? 'sim/broken' : 'sim/assistant';
}
