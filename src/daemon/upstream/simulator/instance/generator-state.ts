import type { PatternSearch } from './pattern-search.ts';
import type { PromptValues } from './prompt-values.ts';

/** The schema requires more than the simulator generates. Unlike with Unsatisfiable, no other branch is tried. */
export class TooLarge extends Error {}

/** The state while one instance of a schema is generated. */
export interface GeneratorState {
  prompt: PromptValues;
  patterns: PatternSearch;
  /** `all` includes optional properties; `offered` only those for which the prompt has a value. */
  optional: 'all' | 'offered';
  root: unknown;
  /** References being followed, to detect cycles. */
  open: Set<string>;
  schemasLeft: number;
  /** Generates the value of a nested schema. */
  value(schema: unknown, position: SchemaPosition): unknown;
}

/** The position of a value in the instance. */
export interface SchemaPosition {
  /** The name of the nearest property. */
  name: string;
  /** The index among similar siblings, so that the items of a list differ. */
  ordinal: number;
  depth: number;
}
