import type { ContentPart, Inference, InputItem } from '../inference/neutral.ts';

/** What a request requires of a model. */
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
}

export function requirementsOf(inference: Inference, inputTokensMax: number): Requirements {
  const has = (type: ContentPart['type']) =>
    inference.items.some((item) => partsOf(item).some((part) => part.type === type));
  const { tools, toolChoice, format } = inference;
  const effort = inference.reasoning?.effort;
  return {
    embeddings: inference.embedding !== undefined,
    tools: tools.some((tool) => tool.type !== 'opaque') && toolChoice?.mode !== 'none',
    images: has('image'),
    files: has('file'),
    audio: has('audio'),
    structuredOutput: format?.type === 'json_schema',
    reasoning: effort !== undefined && effort !== 'none',
    inputTokensMax,
    outputTokensMax: inference.outputTokensMax,
  };
}

const noParts: readonly ContentPart[] = [];

function partsOf(item: InputItem): readonly ContentPart[] {
  if (item.type === 'message') return item.content;
  return item.type === 'function_call_output' ? item.output : noParts;
}
