import { localModelsProvider } from '../../../shared/constants/engine-library.ts';
import type { OutgoingRequest, World } from '../../base/world.ts';
import type { Upstream } from '../../features/upstreams/upstream.ts';
import { httpUpstream, type UpstreamTimeouts } from '../http-upstream.ts';
import { networkFailure } from '../network-failures.ts';
import { chatAdapter } from '../providers/openai-chat/adapter.ts';
import type { LocalModel } from './model-processes.ts';

/**
 * The host's own models as a provider with OpenAI's chat format, whose requests go to the models' processes instead of
 * over the network.
 */
export function localUpstream(
  modelNamed: (name: string) => Pick<LocalModel, 'send'> | undefined,
  timeouts: UpstreamTimeouts,
): Upstream {
  const name = localModelsProvider;
  const send: World['send'] = async (request: OutgoingRequest) => {
    const body = JSON.parse(String(request.body)) as { model: string };
    const model = modelNamed(body.model);
    if (model === undefined) throw networkFailure('refused', `${name}/${body.model}`, 'it was removed');
    return await model.send('chat', body, request);
  };
  return httpUpstream({ name, adapter: chatAdapter({ name, baseUrl: `${name}:` }), send, timeouts });
}
