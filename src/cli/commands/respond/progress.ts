import type { CreateResponseBody } from '../../../shared/contract/responses.ts';
import type { Prices } from '../../../shared/money.ts';
import { getModel } from '../../addresses.ts';
import type { Context } from '../../context.ts';
import type { Writer } from '../../io.ts';
import { startSpinner } from '../../output/spinner.ts';
import { duration } from '../../output/time.ts';

/** What a person sees while a model answers: a spinner with time, tokens and cost. */
export interface Progress {
  see(event: { type: string; delta?: unknown; model?: string; provider?: string }): void;
  /** Makes room where answer and spinner share a terminal. */
  yieldTo(stdout: Writer): void;
  stop(): void;
}

/** A rule of thumb, as the counts of providers come only at the end. */
export const charactersPerToken = 4;

/** Shows progress on stderr where a person watches; elsewhere it does nothing. */
export function showProgress(context: Context, body: CreateResponseBody): Progress {
  if (!context.out.isInteractive() || context.out.isQuiet()) return { see() {}, yieldTo() {}, stop() {} };
  const startedAt = context.now();
  const inputTokens = JSON.stringify(body.input ?? '').length / charactersPerToken;
  let label = body.model;
  let characters = 0;
  let prices: DollarPrices | undefined;
  const spinner = startSpinner(context.io, () => {
    const tokens = characters / charactersPerToken;
    const parts = [label, duration(context.now() - startedAt)];
    if (characters > 0) parts.push(`~${Math.ceil(tokens)} tokens`);
    if (prices) {
      const usd = (inputTokens * prices.input + tokens * prices.output) / 1e6;
      parts.push(`~$${Number(usd.toFixed(6))}`);
    }
    return parts.join(' · ');
  });
  return {
    see(event) {
      if (typeof event.delta === 'string') characters += event.delta.length;
      if (event.type !== 'service:route' || !event.model) return;
      label = `${event.model} via ${event.provider}`;
      void pricesOf(context, event.model).then((found) => {
        prices = found;
      });
    },
    yieldTo(stdout) {
      if (stdout.isTty) spinner.stop();
    },
    stop: () => spinner.stop(),
  };
}

/** Dollars per million tokens, for an estimate that nobody is charged. */
export type DollarPrices = Pick<Prices, 'input' | 'output'>;

/** What a model costs; undefined where nobody knows, or nobody answers. */
export async function pricesOf(context: Context, model: string): Promise<DollarPrices | undefined> {
  const entry = await context
    .client()
    .call(getModel, { params: { model } })
    .catch(() => undefined);
  const prices = entry?.service.prices;
  return prices ? { input: Number(prices.input), output: Number(prices.output) } : undefined;
}
