import type { ApiError } from '../../../shared/errors.ts';
import { invalid, isObject } from '../../../shared/faults/invalid-request.ts';
import { quoted } from '../../../shared/faults/not-found.ts';
import { pictureIn } from '../../../shared/formats/pictures.ts';
import type { Route } from '../routing/index.ts';
import {
  type Inference,
  type InputItem,
  isMcpCall,
  isProviderSealed,
  partsOf,
  type Tool,
  type Wire,
} from '../upstreams/neutral.ts';
import { choicesOf } from './pricing/cost-bound.ts';

const formatNames = {
  responses: 'Responses',
  chat: 'chat-completions',
  messages: 'Messages',
  embeddings: 'embeddings',
} as const;

/**
 * Items of a provider's own tools, whose results are in the messages that follow. They are left out where they are unknown;
 * any other unknown item may be what the answer depends on.
 */
const dispensableItems = new Set([
  ...['web_search_call', 'file_search_call', 'code_interpreter_call', 'image_generation_call'],
  ...['mcp_list_tools', 'server_tool_use', 'mcp_tool_use'],
]);

/** The routes that support what the call requests. Fails with the member to remove when none does. */
export function capableRoutes(routes: Route[], inference: Inference, inputTokensMax: number): Route[] {
  if (inference.embedding) return routes;
  const untranslated = (route: Route) => speaksFormat(route, inference);
  const fault = routes.every(untranslated) ? undefined : untranslatable(inference);
  const capable = routes.filter(
    (route) => untranslated(route) || (!fault && fitsUntruncated(inference, route, inputTokensMax)),
  );
  if (capable.length === 0) throw fault ?? cannotTruncate();
  const upload = uploadIn(inference);
  if (upload !== undefined && new Set(capable.map(({ provider }) => provider)).size > 1)
    throw uploadNeedsProvider(upload);
  const filling = inference.wantsNoAnswer ? capable.filter(untranslated) : [];
  return filling.length > 0 ? filling : capable;
}

/** Whether a route's provider speaks the caller's format. */
export function speaksFormat({ offer }: Pick<Route, 'offer'>, { wire }: Inference): boolean {
  return offer.wires?.some((each) => each === wire) ?? false;
}

/**
 * The error of a call that only a provider with the caller's format can answer: another one would not get what the
 * answer depends on, or would answer what the format forbids. Undefined if there is none.
 */
export function untranslatable(inference: Inference): ApiError | undefined {
  const { body, wire, items, tools, toolChoice } = inference;
  const only = `Only providers with the ${formatNames[wire]} format`;
  const refused = inference.untranslatable?.(inference);
  if (refused) return refused;
  const sealed = items.find(isProviderSealed);
  if (sealed) {
    return invalid(
      sealed.mustReach,
      `This was encrypted by a provider, not by this gateway for this workspace: no provider of this model can read it. Leave the item out, or choose a model of the provider that made it, such as openai/….`,
    );
  }
  if (choicesOf(inference) > 1) return invalid('n', 'The providers of this model support one choice only.');
  if (isObject(body.prompt)) {
    const message = `${only} may have stored prompts. Send the text in \`instructions\` and \`input\`, or choose such a model.`;
    return invalid('prompt', message);
  }
  const upload = uploadIn(inference);
  if (upload !== undefined) return uploadNeedsProvider(upload);
  if (wire === 'chat') {
    if (isObject(body.web_search_options))
      return invalid('web_search_options', `${only} may search the web. Remove it, or choose such a model.`);
    if (Array.isArray(body.modalities) && body.modalities.includes('audio'))
      return invalid('modalities', `${only} may answer with audio. Remove it, or choose such a model.`);
  }
  const { tool_choice: choice } = body;
  if (choice !== undefined && choice !== null && (toolChoice === undefined || allowsNone(toolChoice)))
    return invalid('tool_choice', `${only} may understand this choice. Remove it, or choose such a model.`);
  const format = unknownFormat(inference);
  if (format !== undefined)
    return invalid(format, `${only} may answer in this form. Remove it, or choose such a model.`);
  const tool = tools.find(isCallersOwn);
  if (tool) {
    const what = `a tool of the type ${quoted(String(tool.json.type))}`;
    return invalid(
      tool.param ?? 'tools',
      `${only} may understand ${what}. Remove it, or choose such a model.`,
    );
  }
  const item = items.find(isIndispensable);
  if (item?.type !== 'opaque') return undefined;
  const { param = 'input', unknown = `${param}.type`, json } = item;
  const what = item.unknown === undefined ? `items of type ${quoted(String(json.type))}` : 'this value';
  return invalid(unknown, `${only} may understand ${what}. Remove it, or choose such a model.`);
}

/** The path of an unknown form of answers. */
function unknownFormat({ wire, body, format }: Inference): string | undefined {
  if (format !== undefined || wire === 'embeddings') return undefined;
  const path = formatPaths[wire];
  const written = path.reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), body);
  if (!isObject(written) || written.type === undefined || written.type === 'text') return undefined;
  return [...path, 'type'].join('.');
}

const formatPaths: Readonly<Record<Wire, readonly string[]>> = {
  responses: ['text', 'format'],
  chat: ['response_format'],
  messages: ['output_config', 'format'],
};

function allowsNone(choice: NonNullable<Inference['toolChoice']>): boolean {
  return choice.mode === 'allowed' && choice.required && choice.names.length === 0;
}

/** Whether the caller runs a tool that its format defines and others cannot express: without it, an agent would do nothing. */
function isCallersOwn(tool: Tool): tool is Extract<Tool, { type: 'opaque' }> {
  return tool.type === 'opaque' && /^computer(_use_preview|_\d{8})?$/.test(String(tool.json.type));
}

function isIndispensable(item: InputItem): boolean {
  if (item.type !== 'opaque' || item.elsewhere || isMcpCall(item)) return false;
  const type = String(item.json.type);
  const isDispensable = dispensableItems.has(type) || type.endsWith('_tool_result');
  if (isDispensable && item.unknown === undefined) return false;
  return pictureIn(item.json) === undefined;
}

/** The path of the first file that the call names by its id at a provider. */
function uploadIn({ items }: Inference): string | undefined {
  for (const item of items) {
    const parts = partsOf(item);
    for (const part of parts) {
      if ((part.type === 'file' || part.type === 'image') && part.upload !== undefined)
        return part.upload.param;
    }
  }
  return undefined;
}

/** A file exists at one provider only, so the call must not go to another. */
function uploadNeedsProvider(param: string): ApiError {
  return invalid(
    param,
    'An uploaded file exists at one provider only. Choose a model of that provider, such as openai/gpt-5, or send the content as data.',
  );
}

/** Whether an input that may be truncated certainly needs no truncation, which only some providers do. */
function fitsUntruncated({ body }: Inference, { offer }: Route, inputTokensMax: number): boolean {
  if ((body.truncation ?? 'disabled') === 'disabled') return true;
  const { contextLength } = offer;
  return contextLength !== null && contextLength !== undefined && inputTokensMax <= contextLength;
}

function cannotTruncate(): ApiError {
  return invalid(
    'truncation',
    'The providers of this model do not truncate, and this input may be too long for it. Leave `truncation` out, or shorten the conversation with `context_management`.',
  );
}
