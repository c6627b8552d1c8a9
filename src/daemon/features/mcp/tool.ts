import type { TSchema } from 'typebox';
import type { Endpoint, TypeOf } from '../../../shared/contract/endpoint.ts';
import type { Ask } from './inner-call.ts';

/** The result of a tool, as data and, where it reads better than JSON, as text. */
export interface ToolAnswer {
  data: Record<string, unknown>;
  text?: string;
  /** Whether the tool failed; the result then describes the error. */
  hasFailed?: boolean;
}

export interface ToolContext {
  ask: Ask;
  /** Monotonic time in milliseconds. */
  elapsed(): number;
  /** Sends text to the client as progress; undefined if the client did not request progress. */
  reportProgress: ((text: string, characters: number) => Promise<void>) | undefined;
}

/** A tool for models. */
export interface Tool {
  name: string;
  /** For display. */
  title: string;
  /** For the model: what the tool returns, and when to use it. */
  description: string;
  input: TSchema;
  /** The endpoints that it calls; it is offered to those who may call one of them. */
  endpoints: readonly Endpoint[];
  /** Whether it neither changes nor costs anything. */
  isReadOnly: boolean;
  /** Whether what it does cannot be undone. */
  isDestructive?: boolean;
  // The server validates the input by the tool's schema.
  // biome-ignore lint/suspicious/noExplicitAny: `tool` keeps the relation between input and run.
  run(input: any, context: ToolContext): Promise<ToolAnswer>;
}

/** Binds a tool to the schema of its input. */
export function tool<const S extends TSchema>(
  definition: Omit<Tool, 'input' | 'run'> & {
    input: S;
    run(input: TypeOf<S>, context: ToolContext): Promise<ToolAnswer>;
  },
): Tool {
  return definition;
}
