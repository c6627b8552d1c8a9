import type { PatternSearch } from './pattern-search.ts';
import type { PromptValues } from './prompt-values.ts';

/** The schema asks for more than the simulator makes; unlike Unsatisfiable, no other branch is tried. */
export class TooLarge extends Error {}

/** What is known while one instance of a schema is made. */
export interface Making {
  prompt: PromptValues;
  patterns: PatternSearch;
  /** `all` fills in optional properties; `offered` only those for which the prompt has a value. */
  optional: 'all' | 'offered';
  root: unknown;
  /** References being followed: one that leads back to itself is left as soon as the schema allows. */
  open: Set<string>;
  schemasLeft: number;
  /** Makes the value of a nested schema. */
  value(schema: unknown, spot: Spot): unknown;
}

/** Where in the instance a value stands. */
export interface Spot {
  /** Of the nearest property. */
  name: string;
  /** Position among equal siblings, so that the items of a list differ. */
  ordinal: number;
  depth: number;
}
