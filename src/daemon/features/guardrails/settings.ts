import type { RedactionKind } from '../../../shared/masking/redaction-kinds.ts';

export type HookMoment = 'request' | 'answer';

/** A program or an address that is asked whether a call, or an answer, may pass. */
export interface Hook {
  name: string;
  on: readonly HookMoment[];
  /** A program with its arguments; exactly one of `command` and `url` is set. */
  command: readonly string[] | undefined;
  url: string | undefined;
  /** Sent to `url`. */
  headers: Readonly<Record<string, string>>;
  timeoutMs: number;
  /** Whether a call passes when the hook fails. */
  failsOpen: boolean;
  /** Names of models with `*` for any characters; undefined for all. */
  models: readonly string[] | undefined;
  /** Characters of a stream's text that are held back until the hook has seen them. */
  window: number;
}

/** What is replaced in requests before they are sent, and put back in their answers. */
export interface RedactionRules {
  kinds: readonly (RedactionKind | 'credential')[];
  /** Regular expressions of the operator. */
  patterns: readonly string[];
  /** As in `Hook`. */
  models: readonly string[] | undefined;
}

export interface GuardrailSettings {
  /** Whether there is anything that a call has to pass. */
  readonly isUsed: boolean;
  readonly hooks: readonly Hook[];
  readonly redaction: RedactionRules | undefined;
}
