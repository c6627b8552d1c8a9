import type { ServiceStatus } from '../../../shared/contract/daemon.ts';
import { getModel, getServiceStatus } from '../../../shared/endpoints.ts';
import { dollars } from '../../../view/money.ts';
import type { Context } from '../../context.ts';

interface ModelFlags {
  model?: string | undefined;
}

export interface ChosenModel {
  model: string;
  /** Which model answers and how to choose another; undefined if one was chosen. */
  hint: string | undefined;
}

/** The model from the flags or the environment, else the daemon's default. */
export async function chooseModel(context: Context, { model }: ModelFlags): Promise<ChosenModel> {
  const named = model ?? (context.env.GATEWAY_MODEL || undefined);
  if (named !== undefined) return { model: named, hint: undefined };
  const status = await context.client().call(getServiceStatus, {});
  return { model: status.default_model, hint: await hintOf(context, status) };
}

/** Like `chooseModel`, with the hint on stderr. */
export async function modelOf(context: Context, flags: ModelFlags): Promise<string> {
  const { model, hint } = await chooseModel(context, flags);
  if (hint !== undefined) context.out.note(hint);
  return model;
}

/** None for the simulator as long as nothing else can answer: every answer names its model anyway. */
async function hintOf(context: Context, status: ServiceStatus): Promise<string | undefined> {
  const { default_model: model, default_model_source: source, suggested_model: suggested } = status;
  if (source === 'configuration' || (source === 'simulator' && suggested === null)) return undefined;
  const kind = source === 'simulator' ? 'the built-in simulator' : 'a local model';
  const chosen = `No default_model is set, so ${model} answers: ${kind}.`;
  const other = suggested ?? model;
  const change = context.host().isLocal
    ? `gateway config set default_model ${other}`
    : `--model ${other}, or GATEWAY_MODEL`;
  const purpose = suggested === null ? 'To keep it' : 'To ask another';
  return `${chosen} ${purpose}: ${change}${suggested === null ? '' : await priceText(context, suggested)}`;
}

async function priceText(context: Context, model: string): Promise<string> {
  const { service } = await context.client().call(getModel, { params: { model } });
  if (service.prices === null) return ' (its price is unknown)';
  const { input, output } = service.prices;
  return ` (${dollars(input)} in and ${dollars(output)} out per million tokens)`;
}
