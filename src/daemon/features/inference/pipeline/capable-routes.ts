import type { ApiError } from '../../../../shared/errors.ts';
import { quoted } from '../../../../shared/not-found.ts';
import { pictureIn } from '../../../../shared/pictures.ts';
import type { Route } from '../../routing/index.ts';
import {
  type ContentPart,
  type Inference,
  type InputItem,
  isMcpCall,
  isProviderSealed,
} from '../../upstreams/neutral.ts';
import { invalid, isObject } from '../invalid-request.ts';
import { choicesOf } from '../pricing/cost-bound.ts';

const formatNames = {
  responses: 'Responses',
  chat: 'chat-completions',
  messages: 'Messages',
  embeddings: 'embeddings',
} as const;

/**
 * Items of a provider's own tools, whose results are in the messages that follow, and definitions of tools. They are left
 * out where they are unknown; any other unknown item may be what the answer depends on.
 */
const dispensableItems = new Set([
  ...['web_search_call', 'file_search_call', 'code_interpreter_call', 'image_generation_call'],
  ...['mcp_list_tools', 'tool_search_call', 'tool_search_output', 'additional_tools'],
  ...['server_tool_use', 'mcp_tool_use', 'tool_reference'],
]);

/** The routes that support what the call requests. Fails with the member to remove when none does. */
export function capableRoutes(routes: Route[], inference: Inference, inputTokensMax: number): Route[] {
  if (inference.embedding) return routes;
  const untranslated = (route: Route) => route.offer.wires?.some((wire) => wire === inference.wire) ?? false;
  const fault = routes.every(untranslated) ? undefined : untranslatable(inference);
  const capable = routes.filter(
    (route) => untranslated(route) || (!fault && fitsUntruncated(inference, route, inputTokensMax)),
  );
  if (capable.length === 0) throw fault ?? cannotTruncate();
  const upload = uploadIn(inference);
  if (upload !== undefined && new Set(capable.map(({ provider }) => provider)).size > 1)
    throw uploadNeedsProvider(upload);
  return capable;
}

/**
 * The error of a call that only a provider with the caller's format can answer: another one would not get what the
 * answer depends on, or would answer what the format forbids. Undefined if there is none.
 */
export function untranslatable(inference: Inference): ApiError | undefined {
  const { body, wire, items, toolChoice } = inference;
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
  if (isObject(body.tool_choice) && (toolChoice === undefined || allowsNone(toolChoice)))
    return invalid('tool_choice', `${only} may have this tool. Remove it, or choose such a model.`);
  const item = items.find(isIndispensable);
  if (item?.type !== 'opaque') return undefined;
  return invalid(
    `${item.param ?? 'input'}.type`,
    `${only} may understand items of type ${quoted(String(item.json.type))}. Remove it, or choose such a model.`,
  );
}

function allowsNone(choice: NonNullable<Inference['toolChoice']>): boolean {
  return choice.mode === 'allowed' && choice.required && choice.names.length === 0;
}

function isIndispensable(item: InputItem): boolean {
  if (item.type !== 'opaque' || isMcpCall(item)) return false;
  const type = String(item.json.type);
  if (dispensableItems.has(type) || type.endsWith('_tool_result')) return false;
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

function partsOf(item: InputItem): readonly ContentPart[] {
  if (item.type === 'message') return item.content;
  return item.type === 'function_call_output' ? item.output : [];
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
  if (body.truncation !== 'auto') return true;
  const { contextLength } = offer;
  return contextLength !== null && contextLength !== undefined && inputTokensMax <= contextLength;
}

function cannotTruncate(): ApiError {
  return invalid(
    'truncation',
    'The providers of this model do not truncate, and this input may be too long for it. Leave `truncation` out, or shorten the conversation with `context_management`.',
  );
}
