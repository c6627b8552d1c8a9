import type { TSchema } from 'typebox';
import type { Endpoint, TypeOf } from '../../../shared/contract/endpoint.ts';
import type { Ask } from './inner-call.ts';

/** What a tool found out, for programs and, where that reads better than JSON, in words. */
export interface ToolAnswer {
  data: Record<string, unknown>;
  text?: string;
  /** Whether the tool failed after all: what it found out tells how. */
  hasFailed?: boolean;
}

export interface ToolContext {
  ask: Ask;
  /** Milliseconds of a clock that only goes forward. */
  elapsed(): number;
  /** Tells the client of text that has come; undefined when it did not ask to be told. */
  tell: ((text: string, characters: number) => Promise<void>) | undefined;
}

/** Something that a model can do here. */
export interface Tool {
  name: string;
  /** For people. */
  title: string;
  /** For the model: what it gets, and when to use it. */
  description: string;
  input: TSchema;
  /** What it calls: it is offered to those who may call one of them. */
  endpoints: readonly Endpoint[];
  /** Whether it changes nothing and costs nothing. */
  isReadOnly: boolean;
  // The server hands each tool what its own schema has validated.
  // biome-ignore lint/suspicious/noExplicitAny: the relation between input and run is kept by `tool`.
  run(input: any, context: ToolContext): Promise<ToolAnswer>;
}

/** Ties what a tool does to the schema of what it is given. */
export function tool<const S extends TSchema>(
  definition: Omit<Tool, 'input' | 'run'> & {
    input: S;
    run(input: TypeOf<S>, context: ToolContext): Promise<ToolAnswer>;
  },
): Tool {
  return definition;
}
