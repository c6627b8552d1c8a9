import { getModel, getServiceStatus } from '../../../shared/endpoints.ts';
import type { Context } from '../../context.ts';

/** The model of commands that name none. */
export const modelDefault = 'service/decide';

/** The model that a flag or the environment names. */
export function decisionModel({ env }: Pick<Context, 'env'>, flag: string | undefined): string {
  return flag ?? (env.GATEWAY_DECISION_MODEL || modelDefault);
}

/**
 * The model that a flag or the environment names, or the default. While the host has nothing that could answer for the default,
 * the simulator does if it also answers commands that generate text; a note says so.
 */
export async function chooseDecisionModel(context: Context, flag: string | undefined): Promise<string> {
  const { env, out, host } = context;
  const client = context.client();
  if (flag !== undefined || env.GATEWAY_DECISION_MODEL) return decisionModel(context, flag);
  const { service } = await client.call(getModel, { params: { model: modelDefault } });
  if (service.providers.some(({ available }) => available)) return modelDefault;
  const { default_model: model, default_model_source: source } = await client.call(getServiceStatus, {});
  if (source !== 'simulator') return modelDefault;
  out.note(
    `No decision engine is set up, so ${model} answers: the built-in simulator, which compares words.`,
  );
  const engine = host().isLocal ? 'a model file (gateway engine add FILE.gguf)' : 'a decision engine';
  out.note(`Real answers need ${engine} or a provider's model (--model, one of gateway models).`);
  return model;
}
