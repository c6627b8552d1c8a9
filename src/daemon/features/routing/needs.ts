import type { Offer } from '../catalog/index.ts';
import { type ContentPart, type Inference, partsOf } from '../upstreams/neutral.ts';

/** What an answer depends on: a model without it would answer something else. */
export type Need = 'tools' | 'images' | 'files' | 'audio';

/** The requirements of a request on a model. */
export interface Requirements {
  embeddings: boolean;
  tools: boolean;
  images: boolean;
  files: boolean;
  audio: boolean;
  structuredOutput: boolean;
  reasoning: boolean;
  /** Upper bound of the input's tokens. */
  inputTokensMax: number;
  /** The maximum that the caller asked for. */
  outputTokensMax: number | undefined;
  /** The path of what needs something, in the request. */
  paramOf(need: Need): string;
}

export function requirementsOf(inference: Inference, inputTokensMax: number): Requirements {
  const has = (type: ContentPart['type']) =>
    inference.items.some((item) => partsOf(item).some((part) => part.type === type));
  const { tools, toolChoice, format, reasoning } = inference;
  return {
    embeddings: inference.embedding !== undefined,
    tools: tools.some((tool) => tool.type !== 'opaque') && toolChoice?.mode !== 'none',
    images: has('image'),
    files: has('file'),
    audio: has('audio'),
    structuredOutput: format?.type === 'json_schema',
    reasoning: reasoning !== undefined && reasoning.effort !== 'none',
    inputTokensMax,
    outputTokensMax: inference.outputTokensMax,
    paramOf: (need) => paramOf(inference, need),
  };
}

const sentences: Readonly<Record<Need, string>> = {
  tools: 'does not support tools',
  images: 'does not accept images',
  files: 'does not accept files',
  audio: 'does not accept audio',
};

/** What of a request's needs a model is known to lack, and a sentence that says so after the model's name. */
export function lackedNeed({ capabilities }: Offer, required: Requirements) {
  const { tools, inputModalities: accepted } = capabilities;
  const lacks = (kind: 'image' | 'file' | 'audio') => accepted !== null && !accepted.includes(kind);
  const need: Need | undefined =
    required.tools && tools === false
      ? 'tools'
      : required.images && lacks('image')
        ? 'images'
        : required.files && lacks('file')
          ? 'files'
          : required.audio && lacks('audio')
            ? 'audio'
            : undefined;
  return need && { need, sentence: sentences[need] };
}

/** Whether a model is known to lack an option of a request, which is then left out or emulated. */
export function lacksOption({ capabilities }: Offer, required: Requirements): boolean {
  if (required.structuredOutput && capabilities.structuredOutput === false) return true;
  return required.reasoning && capabilities.reasoning === false;
}

/** The types of content parts in the three formats. */
const partTypes: Readonly<Record<Exclude<Need, 'tools'>, ReadonlySet<unknown>>> = {
  images: new Set(['input_image', 'image_url', 'image']),
  files: new Set(['input_file', 'file', 'document']),
  audio: new Set(['input_audio']),
};

function paramOf({ wire, body }: Inference, need: Need): string {
  if (need === 'tools')
    return body.tools === undefined && body.functions !== undefined ? 'functions' : 'tools';
  const list = wire === 'responses' ? 'input' : 'messages';
  // Parts of earlier turns are not in the body.
  return pathIn(body[list], list, partTypes[need]) ?? list;
}

/** The path of the first part of some types, in messages, items and results of tools. */
function pathIn(parts: unknown, path: string, types: ReadonlySet<unknown>): string | undefined {
  if (!Array.isArray(parts)) return undefined;
  for (const [index, part] of parts.entries()) {
    if (typeof part !== 'object' || part === null) continue;
    const at = `${path}[${index}]`;
    if (types.has(part.type)) return at;
    const found =
      pathIn(part.content, `${at}.content`, types) ??
      pathIn(part.output, `${at}.output`, types) ??
      pathIn(part.source?.content, `${at}.source.content`, types);
    if (found !== undefined) return found;
  }
  return undefined;
}
