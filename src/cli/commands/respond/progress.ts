import type { CreateResponseBody } from '../../../shared/contract/responses.ts';
import { getModel } from '../../../shared/endpoints.ts';
import type { Prices } from '../../../shared/money/money.ts';
import { duration } from '../../../view/durations.ts';
import { briefDollars } from '../../../view/money.ts';
import { briefCount } from '../../../view/numbers.ts';
import type { Context } from '../../context.ts';
import type { Writer } from '../../io.ts';
import { startSpinner } from '../../output/progress.ts';

/** Shows a spinner with time, tokens and cost while a model answers. */
export interface Progress {
  see(event: { type: string; delta?: unknown; model?: string; provider?: string }): void;
  /** Removes the spinner if the answer goes to the same terminal. */
  yieldTo(stdout: Writer): void;
  stop(): void;
}

/** An answer in progress. */
export interface GrowingAnswer {
  /** The model and, once known, the provider. */
  label: string;
  /** Milliseconds since 1970. */
  startedAt: number;
  /** Characters sent. */
  asked: number;
  /** Characters received. */
  characters: number;
  prices: DollarPrices | undefined;
}

/** An estimate: providers report token counts only at the end. */
const charactersPerToken = 4;

/** `sim/echo via simulator · 3.2 s · ~12 tokens · ~$0.0001`, without what is not known yet. */
export function progressLine(answer: GrowingAnswer, now: number): string {
  const { label, startedAt, asked, characters, prices } = answer;
  const tokens = characters / charactersPerToken;
  const parts = [label, duration(now - startedAt)];
  if (characters > 0) parts.push(`~${briefCount(Math.ceil(tokens))} tokens`);
  if (prices) {
    const usd = ((asked / charactersPerToken) * prices.input + tokens * prices.output) / 1e6;
    parts.push(`~${briefDollars(usd)}`);
  }
  return parts.join(' · ');
}

/** Shows progress on stderr if it is a terminal. */
export function showProgress(context: Context, body: CreateResponseBody): Progress {
  if (!context.out.isInteractive() || context.out.isQuiet()) return { see() {}, yieldTo() {}, stop() {} };
  const answer: GrowingAnswer = {
    label: body.model,
    startedAt: context.now(),
    asked: JSON.stringify(body.input ?? '').length,
    characters: 0,
    prices: undefined,
  };
  const spinner = startSpinner(context.io, () => progressLine(answer, context.now()));
  return {
    see(event) {
      if (typeof event.delta === 'string') answer.characters += event.delta.length;
      if (event.type !== 'service:route' || !event.model) return;
      answer.label = `${event.model} via ${event.provider}`;
      void pricesOf(context, event.model).then((found) => {
        answer.prices = found;
      });
    },
    yieldTo(stdout) {
      if (stdout.isTty) spinner.stop();
    },
    stop: () => spinner.stop(),
  };
}

/** Dollars per million tokens, as numbers because they are only for an estimate. */
type DollarPrices = Pick<Prices, 'input' | 'output'>;

/** A model's prices; undefined if they are unknown or the daemon does not respond. */
export async function pricesOf(context: Context, model: string): Promise<DollarPrices | undefined> {
  const entry = await context
    .client()
    .call(getModel, { params: { model } })
    .catch(() => undefined);
  const prices = entry?.service.prices;
  return prices ? { input: Number(prices.input), output: Number(prices.output) } : undefined;
}
