import { effortsIn, nearestEffort } from '../../../../shared/calls/efforts.ts';
import { isObject, type JsonObject as Json } from '../../../../shared/json/json-object.ts';
import type { Inference } from '../../upstreams/neutral.ts';
import { type UpstreamCall, UpstreamFailure } from '../../upstreams/upstream.ts';
import type { Reduced } from './options.ts';

/**
 * The effort that a refusal names in place of the one that was asked for. Servers take those of their own models: three of them,
 * those of OpenAI, or others. Source: SGLang, Kimi, MiMo, Mistral and OpenAI in router-for-me/CLIProxyAPI#1572,
 * router-for-me/CLIProxyAPI#1307, esengine/DeepSeek-Reasonix#2921, mistralai/mistral-vibe#1117, nguyenphutrong/quotio#287.
 */
export function acceptedEffort(error: unknown, { inference }: UpstreamCall): string | undefined {
  const asked = inference.reasoning?.effort;
  if (asked === undefined || !(error instanceof UpstreamFailure) || error.kind !== 'caller') return undefined;
  const { param, path, publicMessage = '' } = error.details;
  const sentence = publicMessage.slice(0, 600);
  if (!/effort|reasoning|\blevels?\b/i.test(path ?? param ?? sentence)) return undefined;
  const others = effortsIn(sentence).filter((effort) => effort !== asked);
  // One alone may be a way out, such as none at all.
  return others.length > 1 ? nearestEffort(asked, others) : undefined;
}

/** A call with another effort, in its neutral form and in its body, which providers with the same format get. */
export function withEffort(inference: Inference, effort: string): Reduced {
  const { reasoning, body } = inference;
  if (reasoning === undefined || reasoning.effort === effort) return { inference, dropped: [] };
  const changed = { ...inference, reasoning: { ...reasoning, effort } };
  if ('reasoning_effort' in body) {
    changed.body = { ...body, reasoning_effort: effort };
    return { inference: changed, dropped: [{ param: 'reasoning_effort' }] };
  }
  const holder = holders.find((name) => isObject(body[name]) && 'effort' in body[name]);
  if (holder === undefined) return { inference: changed, dropped: [] };
  changed.body = { ...body, [holder]: { ...(body[holder] as Json), effort } };
  return { inference: changed, dropped: [{ param: `${holder}.effort` }] };
}

const holders = ['reasoning', 'output_config'];
