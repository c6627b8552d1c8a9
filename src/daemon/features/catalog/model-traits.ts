/**
 * Facts that the price library lacks: output limits and capabilities, by family of models. Sources: OpenAI's model
 * pages (developers.openai.com/api/docs/models), Anthropic's models overview (platform.claude.com/docs), Google's
 * Gemini models page (ai.google.dev/gemini-api/docs/models).
 */

import { ownValue } from '../../../shared/json/json-object.ts';

export type Modality = 'text' | 'image' | 'file' | 'audio' | 'video';

/** What a model is for, which decides at which endpoints it can be called. */
export type ModelKind = 'chat' | 'embedding';

/** A model's capabilities; null if unknown, in which case requests that need one are tried. */
export interface Capabilities {
  kind: ModelKind | null;
  inputModalities: readonly Modality[] | null;
  outputModalities: readonly (Modality | 'embeddings')[];
  tools: boolean | null;
  parallelTools: boolean | null;
  structuredOutput: boolean | null;
  reasoning: boolean | null;
  logprobs: boolean | null;
}

export interface ModelTraits {
  capabilities: Capabilities;
  /** In tokens; null if unknown. */
  outputTokensMax: number | null;
  /** Used if the price library has none. */
  contextLength: number | null;
}

export const unknownCapabilities: Capabilities = {
  kind: null,
  inputModalities: null,
  outputModalities: ['text'],
  tools: null,
  parallelTools: null,
  structuredOutput: null,
  reasoning: null,
  logprobs: null,
};

const unknownTraits: ModelTraits = {
  capabilities: unknownCapabilities,
  outputTokensMax: null,
  contextLength: null,
};

/** All models of a maker without embedding models. */
const chatTraits: ModelTraits = { ...unknownTraits, capabilities: { ...unknownCapabilities, kind: 'chat' } };

interface Row {
  /** Matches the name after the family, with dashes for dots. The first matching row applies. */
  name: RegExp;
  outputTokensMax: number;
  contextLength?: number;
  input: readonly Modality[];
  /** Besides text: t tools, p parallel tools, s structured output, r reasoning, l log probabilities, d drawing. */
  abilities: string;
}

const text: readonly Modality[] = ['text'];
const images: readonly Modality[] = ['text', 'image'];
const documents: readonly Modality[] = ['text', 'image', 'file'];
const media: readonly Modality[] = ['text', 'image', 'file', 'audio', 'video'];

const openai: Row[] = [
  { name: /^gpt-3-5/, outputTokensMax: 4_096, input: text, abilities: 'tpl' },
  { name: /^gpt-4-turbo/, outputTokensMax: 4_096, input: images, abilities: 'tpl' },
  { name: /^gpt-4-1/, outputTokensMax: 32_768, input: documents, abilities: 'tpsl' },
  { name: /^gpt-4o-2024-05-13/, outputTokensMax: 4_096, input: images, abilities: 'tpl' },
  { name: /^gpt-4o/, outputTokensMax: 16_384, input: documents, abilities: 'tpsl' },
  { name: /^gpt-4(-0613)?$/, outputTokensMax: 8_192, contextLength: 8_192, input: text, abilities: 'tpl' },
  { name: /^o3-mini/, outputTokensMax: 100_000, input: text, abilities: 'tpsr' },
  { name: /^o(1|3|4-mini)/, outputTokensMax: 100_000, input: documents, abilities: 'tpsr' },
  { name: /^gpt-5-pro/, outputTokensMax: 272_000, input: images, abilities: 'tpsr' },
  {
    name: /^gpt-5(-\d)?-chat/,
    outputTokensMax: 16_384,
    contextLength: 128_000,
    input: images,
    abilities: 'tps',
  },
  { name: /^gpt-[5-9]/, outputTokensMax: 128_000, input: documents, abilities: 'tpsr' },
];

const anthropic: Row[] = [
  { name: /^claude-3-(haiku|opus|sonnet)/, outputTokensMax: 4_096, input: images, abilities: 'tps' },
  { name: /^claude-3-5/, outputTokensMax: 8_192, input: documents, abilities: 'tps' },
  { name: /^claude-3-7/, outputTokensMax: 64_000, input: documents, abilities: 'tpsr' },
  { name: /^claude-opus-4(-[01])?(-\d{8})?$/, outputTokensMax: 32_000, input: documents, abilities: 'tpsr' },
  { name: /^claude-opus-4-[6-9]/, outputTokensMax: 128_000, input: documents, abilities: 'tpsr' },
  { name: /^claude-[a-z]+-4/, outputTokensMax: 64_000, input: documents, abilities: 'tpsr' },
  { name: /^claude-[a-z]+-[5-9]/, outputTokensMax: 128_000, input: documents, abilities: 'tpsr' },
];

/** Gemini models that answer with text and images. */
const draws = /^gemini-(2-5|[3-9])-[\w-]*image/;

const google: Row[] = [
  { name: draws, outputTokensMax: 32_768, contextLength: 65_536, input: images, abilities: 'd' },
  { name: /^gemini-2-0/, outputTokensMax: 8_192, input: media, abilities: 'tps' },
  {
    name: /^gemini-(2-5|[3-9])/,
    outputTokensMax: 65_536,
    contextLength: 1_048_576,
    input: media,
    abilities: 'tpsr',
  },
  { name: /^gemma-3/, outputTokensMax: 8_192, input: images, abilities: '' },
  { name: /^gemma-[4-9]/, outputTokensMax: 32_768, input: images, abilities: 'tpsr' },
];

const families: Readonly<Record<string, readonly Row[]>> = { openai, anthropic, google };

const embeddingTraits: ModelTraits = {
  capabilities: {
    kind: 'embedding',
    inputModalities: text,
    outputModalities: ['embeddings'],
    tools: false,
    parallelTools: false,
    structuredOutput: false,
    reasoning: false,
    logprobs: false,
  },
  outputTokensMax: null,
  contextLength: null,
};

/** Names of embedding models, of any maker, with dashes for dots. */
const embeddingNames =
  /embed|^sentence-transformers\/|(^|[/:_-])(bge|gte|e5|minilm|voyage|paraphrase-multilingual)([-:]|$)/;

/** Whether a model's name is that of an embedding model. */
export function isEmbeddingModel(name: string): boolean {
  const dashed = name.toLowerCase().replaceAll('.', '-');
  return embeddingNames.test(dashed) && !dashed.includes('rerank');
}

/** The traits of a model; unknown for names that no row matches. */
export function traitsOf(family: string, name: string): ModelTraits {
  const dashed = name.toLowerCase().replaceAll('.', '-');
  const row = ownValue(families, family)?.find((candidate) => candidate.name.test(dashed));
  if (isEmbeddingModel(name)) return embeddingTraits;
  if (!row || isSpecialised(dashed)) return family === 'anthropic' ? chatTraits : unknownTraits;
  const can = (letter: string) => row.abilities.includes(letter);
  return {
    outputTokensMax: row.outputTokensMax,
    contextLength: row.contextLength ?? null,
    capabilities: {
      kind: 'chat',
      inputModalities: row.input,
      outputModalities: can('d') ? images : text,
      tools: can('t'),
      parallelTools: can('p'),
      structuredOutput: can('s'),
      reasoning: can('r'),
      // Some of Google's models report them, at some times; its list of models does not say which.
      logprobs: family === 'google' ? null : can('l'),
    },
  };
}

/** Models for other endpoints, such as speech, images and transcription, and for other hosts. */
const specialised =
  /audio|realtime|image|tts|transcribe|whisper|moderation|live|search|instruct|computer|vision|omni|maas/;

const isSpecialised = (dashed: string) => specialised.test(dashed) && !draws.test(dashed);

/** The models that each maker still serves; the price library also has retired ones. */
const current: Readonly<Record<string, RegExp>> = {
  openai:
    /^(text-embedding-(3|ada-002)|gpt-(3-5-turbo|4|4-turbo|4-1|4o|[5-9])|o1(?!-mini|-preview)|o[3-9])(?!-0\d{3}|-1106|-16k|-32k|-5-preview)(-|$)/,
  anthropic: /^claude-[a-z]+-[4-9]/,
  google: /^(gemini-(2-5|[3-9]|embedding)|gemma-[3-9])/,
};

/** Whether a model of the price library belongs in the catalog. */
export function isCurrentModel(family: string, name: string): boolean {
  const dashed = name.toLowerCase().replaceAll('.', '-');
  const pattern = ownValue(current, family);
  if (pattern !== undefined && !pattern.test(dashed)) return false;
  return !isSpecialised(dashed) && !/^ft:|:(batch|extended|beta)$/.test(name);
}
