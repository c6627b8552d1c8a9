import type { CreateDecision, Decision } from '../../../shared/contract/decisions.ts';
import { ApiError } from '../../../shared/errors.ts';
import type { Context } from '../../context.ts';
import { createDecision, getServiceStatus } from '../../endpoints.ts';

/** The model of commands that name none. */
export const modelDefault = 'service/decide';

/** The model that a flag or the environment names. */
export function decisionModel({ env }: Pick<Context, 'env'>, flag: string | undefined): string {
  return flag ?? (env.GATEWAY_DECISION_MODEL || modelDefault);
}

interface AskOptions {
  headers: { 'Idempotency-Key'?: string; 'X-Decision-Order'?: 'peer' | 'hosted' };
  signal: AbortSignal;
}

/**
 * Asks for decisions. While nothing is set up that could answer `service/decide`, the daemon's default model does if it is the
 * simulator, as for commands that generate text; the user is told once.
 */
export class DecisionAsker {
  readonly #context: Context;
  /** Answers in place of `service/decide`. */
  #simulator: Promise<string | undefined> | undefined;

  constructor(context: Context) {
    this.#context = context;
  }

  async ask(body: CreateDecision, { headers, signal }: AskOptions): Promise<Decision> {
    const send = (model: string) =>
      this.#context.client().call(createDecision, { headers, body: { ...body, model } }, { signal });
    const known = body.model === modelDefault ? await this.#simulator : undefined;
    try {
      return await send(known ?? body.model);
    } catch (error) {
      if (known !== undefined || headers['X-Decision-Order'] || !isUnset(body, error)) throw error;
      this.#simulator ??= this.#simulatorOf();
      const model = await this.#simulator;
      if (model === undefined) throw error;
      return await send(model);
    }
  }

  async #simulatorOf(): Promise<string | undefined> {
    const { out, host } = this.#context;
    const status = await this.#context.client().call(getServiceStatus, {});
    if (status.default_model_source !== 'simulator') return undefined;
    const { default_model: model } = status;
    out.note(
      `No decision engine is set up, so ${model} answers: the built-in simulator, which compares words.`,
    );
    const engine = host().isLocal ? 'a model file (gateway engine add FILE.gguf)' : 'a decision engine';
    out.note(`Real answers need ${engine} or a provider's model (--model, one of gateway models).`);
    return model;
  }
}

/** Whether a decision failed because the host has nothing that could answer it. */
function isUnset({ model }: CreateDecision, error: unknown): boolean {
  if (model !== modelDefault || !(error instanceof ApiError) || error.code !== 'unavailable') return false;
  const attempts = error.extra?.attempts;
  return (
    Array.isArray(attempts) &&
    attempts.length > 0 &&
    attempts.every((attempt: { outcome?: unknown } | null) => attempt?.outcome === 'unavailable')
  );
}
