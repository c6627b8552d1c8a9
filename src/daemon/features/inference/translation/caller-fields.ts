import type { CallFormat, Inference } from '../../upstreams/neutral.ts';
import { type UpstreamCall, UpstreamFailure } from '../../upstreams/upstream.ts';
import { FieldOrigins } from './field-origin.ts';

/** A request and the format in which a provider got it. */
export interface RefusedRequest extends Pick<UpstreamCall, 'inference' | 'wire'> {
  /** The body of the provider's request for a version of the call; undefined if the provider has no such body. */
  write: ((inference: Inference) => unknown) | undefined;
}

/** A provider's rejection of a request, with the caller's names and positions of the fields that it names. */
export function withCallerFields(failure: UpstreamFailure, call: RefusedRequest): UpstreamFailure {
  const { code, publicMessage, path, unsupported } = failure.details;
  // Few providers name the field that is too long; it is always the input.
  const param = failure.details.param ?? (code === 'context_length_exceeded' ? 'input' : null);
  const fields = new CallerFields(call);
  const own =
    (unsupported && fields.ofUnsupported()) ??
    (param === null ? null : fields.fieldFor(path ?? param, param));
  return new UpstreamFailure(failure.kind, failure.message, {
    ...failure.details,
    param: own,
    ...(publicMessage !== undefined && { publicMessage: fields.sentenceFor(publicMessage) }),
  });
}

/** For each format, the names of the other formats' fields; the first match wins. */
const fieldNames: Record<CallFormat, readonly (readonly [RegExp, string])[]> = {
  chat: [
    [/^(input|instructions|contents|system|system_?[iI]nstruction)\b.*/, 'messages'],
    [/^text\.verbosity$/, 'verbosity'],
    [/^text\b.*/, 'response_format'],
    [/^(reasoning(\.effort)?|thinking)$/, 'reasoning_effort'],
    [/^(tools\[\d+\])\.(?=name|description|parameters|strict)/, '$1.function.'],
  ],
  embeddings: [],
  responses: [
    [/^(messages|contents)\b.*/, 'input'],
    [/^(system|system_?[iI]nstruction)\b.*/, 'instructions'],
    [/^verbosity$/, 'text.verbosity'],
    [/^response_format\b.*/, 'text.format'],
    [/^(reasoning_effort|thinking)$/, 'reasoning.effort'],
    [/^(tools\[\d+\])\.function\b/, '$1'],
  ],
  messages: [
    [/^(input|contents)\b.*/, 'messages'],
    [/^(instructions|system_?[iI]nstruction)\b.*/, 'system'],
    [/^(text\.format|response_format)\b.*/, 'output_config.format'],
    [/^(reasoning(\.effort)?|reasoning_effort)$/, 'output_config.effort'],
    [/^stop$/, 'stop_sequences'],
    [/^parallel_tool_calls$/, 'tool_choice.disable_parallel_tool_use'],
    [/^safety_identifier$/, 'metadata.user_id'],
    [/^(tools\[\d+\])(\.function)?\.parameters\b/, '$1.input_schema'],
    [/^(tools\[\d+\])\.function\b/, '$1'],
  ],
};

const outputLimit = /^max_(completion_|output_)?tokens$/;
/** Whether a sentence names two limits of the output, of which one would replace the other. */
function namesBothLimits(sentence: string): boolean {
  return new Set(sentence.match(/\bmax_(?:completion_|output_)?tokens\b/g)).size > 1;
}

const generateContent = /^GenerateContentRequest\./;

/** A path to a part of the conversation or to a tool, which may be elsewhere in the caller's request. */
const positioned = /^(?:messages|input|contents|system|system_?[iI]nstruction|tools)\b.*[.[]\d/;

/** Fields in a provider's sentence that have other names or positions in the caller's request. */
const mentions =
  /\b(?:GenerateContentRequest\.)?(?:(?:messages|input|contents|system|tools)(?:\[\d+\]|\.\d+)(?:\.\w+|\[\w+\])*|(?<=['"`])messages(?=['"`])|max_(?:completion_|output_)?tokens|response_format|reasoning_effort)/g;

/**
 * Explains failures in the middle of an answer: in a provider's sentence, the caller's names of fields. Their positions are
 * left out, as the request is no longer in memory to look them up; so the result must not retain the call.
 */
export function callerNames(inference: Inference): (failure: UpstreamFailure) => UpstreamFailure {
  return withNames(inference.wire, outputFieldOf(inference));
}

function withNames(wire: CallFormat, outputField: string) {
  return (failure: UpstreamFailure): UpstreamFailure => {
    const { publicMessage: sentence } = failure.details;
    if (sentence === undefined) return new UpstreamFailure(failure.kind, failure.message, failure.details);
    const publicMessage = renamed(sentence, (path) => {
      if (outputLimit.test(path)) return outputField;
      return nameIn(wire, positioned.test(path) ? path.replace(/\W.*/, '') : path);
    });
    return new UpstreamFailure(failure.kind, failure.message, { ...failure.details, publicMessage });
  };
}

/** A sentence with other names for the fields that it mentions. */
function renamed(sentence: string, nameOf: (path: string) => string): string {
  const keepsLimits = namesBothLimits(sentence);
  return sentence.replace(mentions, (mention) => {
    const path = mention.replace(generateContent, '');
    return keepsLimits && outputLimit.test(path) ? mention : nameOf(path);
  });
}

/** Whether the messages are where the caller has them: some servers get turns of one role as one. */
function hasCallersTurns(inference: Inference, write: RefusedRequest['write']): boolean {
  const { messages } = inference.body;
  if (!Array.isArray(messages)) return true;
  const sent = (write?.(inference) as { messages?: unknown } | undefined)?.messages;
  return !Array.isArray(sent) || sent.length === messages.length;
}

/** The caller's names for the fields that a provider names. */
class CallerFields {
  readonly #inference: Inference;
  readonly #isRelayed: boolean;
  readonly #origins: FieldOrigins | undefined;

  constructor({ inference, wire, write }: RefusedRequest) {
    this.#inference = inference;
    this.#isRelayed = wire === inference.wire && hasCallersTurns(inference, write);
    this.#origins = write && new FieldOrigins(inference, write);
  }

  ofUnsupported(): string | undefined {
    const found = this.#origins?.ofUnsupported();
    return found && this.#withoutEarlier(found);
  }

  /** `path`: the field in the provider's request; `field`: its name in a known format, where its position is unknown. */
  fieldFor(path: string, field: string): string {
    return this.#withoutEarlier(this.#fieldInRequest(path, field));
  }

  /** A field in the caller's messages, which come after those of a thread; `messages` for a field in one of these. */
  #withoutEarlier(field: string): string {
    const { earlierMessages = 0 } = this.#inference;
    return field.replace(/^messages\[(\d+)\].*/, (whole, position) => {
      const own = Number(position) - earlierMessages;
      return own < 0 ? 'messages' : whole.replace(position, String(own));
    });
  }

  #fieldInRequest(path: string, field: string): string {
    const { wire } = this.#inference;
    if (this.#isRelayed) {
      const [root = ''] = /^(?:input|messages)(?=[.[]\d)/.exec(path) ?? [];
      if (root !== '' && wire !== 'chat')
        return bracketed((this.#origins ? this.#origins.ofRelayed(path) : path) ?? root);
      if (wire === 'messages' && positioned.test(path)) return bracketed(path);
      // The other fields of the Messages API come in the terms of the Responses format.
      if (wire !== 'messages' && field !== 'input') return field;
    }
    if (outputLimit.test(field)) return outputFieldOf(this.#inference);
    const origin = positioned.test(path) ? this.#origins?.of(path) : undefined;
    if (origin !== undefined) return origin;
    return nameIn(wire, field);
  }

  /** A provider's sentence with its field names in the caller's format. */
  sentenceFor(sentence: string): string {
    return renamed(sentence, (path) => {
      const field = this.fieldFor(path, path);
      // The Messages API writes positions with dots.
      return this.#inference.wire === 'messages' ? field.replace(/\[(\d+)\]/g, '.$1') : field;
    });
  }
}

/** A field of another format in that of the caller. */
function nameIn(wire: CallFormat, field: string): string {
  const [pattern, name] = fieldNames[wire].find(([known]) => known.test(field)) ?? [];
  return pattern && name !== undefined ? field.replace(pattern, name) : field;
}

/** `messages.0.content` as `messages[0].content`. */
function bracketed(path: string): string {
  return path.replace(/\.(\d+)(?=[.[]|$)/g, '[$1]');
}

function outputFieldOf({ wire, body }: Inference): string {
  if (wire === 'responses') return 'max_output_tokens';
  if (wire === 'messages') return 'max_tokens';
  const hasOldName = 'max_tokens' in body && (body.max_tokens ?? undefined) !== undefined;
  return hasOldName ? 'max_tokens' : 'max_completion_tokens';
}
