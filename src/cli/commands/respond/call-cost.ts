import type { ResponseResource } from '../../../shared/contract/response-resource.ts';
import type { UsageView } from '../../../shared/contract/usage.ts';
import { getUsage } from '../../../shared/endpoints.ts';
import { ReceivedError } from '../../../shared/faults/received-error.ts';
import { duration } from '../../../view/durations.ts';
import { dollars } from '../../../view/money.ts';
import { count } from '../../../view/numbers.ts';
import type { Context } from '../../context.ts';

interface SummaryOptions {
  requestId: string | undefined;
  tookMs: number;
}

/** Model, tokens, cost and time on one line. */
export function summarizeResponse(response: ResponseResource, { requestId, tookMs }: SummaryOptions): string {
  const { service, usage } = response;
  const parts = [service ? `${service.model} via ${service.provider}` : response.model];
  if (usage) parts.push(tokensText(Number(usage.input_tokens ?? 0), Number(usage.output_tokens ?? 0)));
  if (service) parts.push(costText(service, service.cost?.total_usd));
  parts.push(duration(tookMs));
  if (requestId) parts.push(requestId);
  return parts.join(' · ');
}

/** The cost of an answer. With the workspace's own provider key, the provider bills it, and nothing is charged here. */
export function costText(
  { cost, own_key }: Pick<UsageView, 'cost' | 'own_key'>,
  charged: string | undefined,
): string {
  return own_key ? `${dollars(cost?.total_usd)} on your own key, nothing charged` : dollars(charged);
}

const settleWaitMs = 3000;
const pollMs = 100;

/** After Ctrl-C: prints what the call cost. The daemon records it when it notices that the client has left. */
export async function showCancelledCost(context: Context, requestId: string | undefined): Promise<void> {
  const usage = requestId === undefined ? undefined : await waitForUsage(context, requestId);
  if (usage) {
    const { tokens, model } = usage;
    const parts = [
      model,
      tokensText(tokens.input, tokens.output),
      costText(usage, usage.charged_usd),
      usage.request_id,
    ];
    context.out.warn(`Cancelled. ${parts.join(' · ')}`);
  } else {
    context.out.warn('Cancelled. For its cost, if any: gateway usage');
  }
}

/** The usage of a cancelled call; waits briefly for it to be recorded. */
export async function waitForUsage(context: Context, requestId: string): Promise<UsageView | undefined> {
  const until = context.now() + settleWaitMs;
  do {
    try {
      return await context.client().call(getUsage, { params: { request_id: requestId } });
    } catch (error) {
      if (!(error instanceof ReceivedError) || error.code !== 'not_found') return undefined;
    }
    await context.sleep(pollMs);
  } while (context.now() < until);
  return undefined;
}

/** `1,234 in, 56 out`. */
export function tokensText(input: number, output: number): string {
  return `${count(input)} in, ${count(output)} out`;
}
