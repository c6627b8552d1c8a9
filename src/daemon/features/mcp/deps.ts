import type { TSchema } from 'typebox';
import type { InnerCalls } from '../../base/inner-calls.ts';
import type { Log } from '../../base/log.ts';
import type { World } from '../../base/world.ts';

export interface McpDeps {
  calls: InnerCalls;
  world: Pick<World, 'now' | 'elapsed'>;
  /** Parses UTF-8 JSON. Fails for anything else, and for nesting that is too deep. */
  parse(bytes: Uint8Array): unknown;
  /** The first fault in a tool's arguments, as a sentence; undefined if they are valid. */
  faultIn(schema: TSchema, value: unknown): string | undefined;
  log: Pick<Log, 'warn'>;
}
