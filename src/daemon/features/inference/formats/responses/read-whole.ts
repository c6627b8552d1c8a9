import { isObject } from '../../fault.ts';
import { drain } from '../../pipeline/relay.ts';
import type { StartedCall } from '../../pipeline/start-call.ts';
import { itemAsEvents } from './whole-items.ts';

/** Takes a provider's answer to its end, be it a stream or a document in the Responses format. */
export async function readWhole(started: StartedCall): Promise<void> {
  const { answer, meter, output, route } = started;
  if (answer.kind !== 'json') return await drain(started);
  const items = Array.isArray(answer.json.output) ? answer.json.output.filter(isObject) : [];
  items.forEach((item, index) => {
    for (const event of itemAsEvents(item, index, { provider: route.provider, model: route.providerModel }))
      output.apply(event);
  });
  if (answer.tokens) meter.report(answer.tokens);
  meter.finish = answer.finish;
}
