import type { TSchema } from 'typebox';
import type { World } from '../../world.ts';
import type { InnerCalls } from './inner-call.ts';

export interface McpNeeds {
  calls: InnerCalls;
  world: Pick<World, 'now' | 'elapsed'>;
  /** Parses JSON in UTF-8. Fails on all else, and on what is nested too deep to be walked over. */
  parse(bytes: Uint8Array): unknown;
  /** The first thing that is wrong with a tool's arguments, in a sentence; undefined when nothing is. */
  faultIn(schema: TSchema, value: unknown): string | undefined;
  log: { warn(details: object, message: string): void };
}
