import { promptValues } from '../../../../../src/daemon/upstream/simulator/instance/prompt-values.ts';
import { instanceOf } from '../../../../../src/daemon/upstream/simulator/instance/schema-instance.ts';

/** An instance of a schema, with values from a prompt. */
export function make(schema: unknown, prompt = '', optional: 'all' | 'offered' = 'all'): unknown {
  return instanceOf(schema, { prompt: promptValues(prompt), optional });
}
