import { type ContentPart, type Inference, type InputItem, inputTokens } from '../inference/index.ts';

/** What a request asks of a model, as far as choosing a provider goes. */
export interface Facts {
  needsTools: boolean;
  needsImages: boolean;
  needsFiles: boolean;
  needsAudio: boolean;
  needsStructuredOutput: boolean;
  needsReasoning: boolean;
  /** What the input can take at most. It reads the whole input: asked only where something depends on it. */
  inputTokensMax: () => number;
  /** What the caller asked for at most. */
  outputTokensMax: number | undefined;
}

/** Reads off a request what it needs. */
export function factsOf(inference: Inference): Facts {
  const parts = inference.items.flatMap(partsOf);
  const has = (type: ContentPart['type']) => parts.some((part) => part.type === type);
  const { tools, toolChoice, format } = inference;
  const effort = inference.reasoning?.effort;
  let inputTokensMax: number | undefined;
  return {
    needsTools: tools.some((tool) => tool.type === 'function') && toolChoice?.mode !== 'none',
    needsImages: has('image'),
    needsFiles: has('file'),
    needsAudio: has('audio'),
    needsStructuredOutput: format?.type === 'json_schema',
    needsReasoning: effort !== undefined && effort !== 'none',
    inputTokensMax: () => {
      inputTokensMax ??= inputTokens(inference).most;
      return inputTokensMax;
    },
    outputTokensMax: inference.outputTokensMax,
  };
}

function partsOf(item: InputItem): ContentPart[] {
  if (item.type === 'message') return item.content;
  return item.type === 'function_call_output' ? item.output : [];
}
