import { readYaml, type YamlFault } from '../../../yaml/read-yaml.ts';
import { schemaFaults } from '../../../yaml/schema-faults.ts';
import { contradictions } from './contradictions.ts';
import { readScript } from './read-script.ts';
import type { SimulatorScript } from './script.ts';
import { ScriptFile } from './script-file.ts';

export type ParsedScript = { script: SimulatorScript } | { faults: YamlFault[] };

/** Reads a script; `docs/simulator.md` tells the format. A script with faults is not used at all: they are told together. */
export function parseSimulatorScript(yamlText: string, fileName: string): ParsedScript {
  const read = readYaml(yamlText, fileName);
  if ('faults' in read) return read;
  const shape = schemaFaults(ScriptFile, read.value, { whole: 'the script' });
  // Contradictions are looked for in what has the right shape; the rest would give a second message for one fault.
  const found = shape.length > 0 ? shape : contradictions(read.value as ScriptFile);
  if (found.length > 0) return { faults: read.placed(found) };
  return { script: readScript(read.value as ScriptFile, fileName) };
}
