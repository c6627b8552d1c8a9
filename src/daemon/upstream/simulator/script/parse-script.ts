import { messageOf } from '../../../../shared/faults/message-of.ts';
import { readYaml, type YamlFault } from '../../../yaml/read-yaml.ts';
import { type SchemaFault, schemaFaults } from '../../../yaml/schema-faults.ts';
import { type ReplyFile, ScriptFile, type SimulatorScript, type WhenFile } from './script-file.ts';

export type ParsedScript = { script: SimulatorScript } | { faults: YamlFault[] };

/** Parses a script, whose format is described in `docs/simulator.md`. Returns all faults together. */
export function parseSimulatorScript(yamlText: string, fileName: string): ParsedScript {
  const read = readYaml(yamlText, fileName);
  if ('faults' in read) return read;
  const shape = schemaFaults(ScriptFile, read.value, { whole: 'the script' });
  // Only valid shapes are checked for contradictions, to report each fault once.
  const faults = shape.length > 0 ? shape : contradictions(read.value as ScriptFile);
  if (faults.length > 0) return { faults: read.placed(faults) };
  return { script: { ...(read.value as ScriptFile), fileName } };
}

/** Settings that are valid on their own but contradict each other. */
function contradictions(file: ScriptFile): SchemaFault[] {
  const faults: SchemaFault[] = [];
  for (const [at, rule] of (file.rules ?? []).entries()) {
    const path = ['rules', at];
    if (rule.once !== undefined && rule.times !== undefined) {
      faults.push({ path: [...path, 'times'], isKey: true, message: 'give `once` or `times`, not both' });
    }
    faults.push(...replyContradictions(rule, path), ...brokenPatterns(rule.when ?? {}, [...path, 'when']));
  }
  if (file.default) faults.push(...replyContradictions(file.default, ['default']));
  if (file.strict && file.default) {
    const message = '`strict` fails what no rule matches, so `default` would never answer: drop one of them';
    faults.push({ path: ['default'], isKey: true, message });
  }
  if (Object.keys(file).length === 0) faults.push({ path: [], isKey: false, message: 'the script is empty' });
  return faults;
}

function replyContradictions(reply: ReplyFile, path: (string | number)[]): SchemaFault[] {
  const faults: SchemaFault[] = [];
  const given = (keys: readonly (keyof ReplyFile)[]) => keys.filter((key) => reply[key] !== undefined);
  const fault = (key: string, message: string) => faults.push({ path: [...path, key], isKey: true, message });

  const [, second] = given(['reply', 'json']);
  if (second) fault(second, 'give `reply` or `json`, not both: each is the text of the answer');
  const content = given(['reply', 'json', 'tool_calls', 'reasoning', 'refusal', 'usage', 'finish']);
  if (reply.error && reply.break_after === undefined && content[0]) {
    fault(
      content[0],
      `an error comes instead of an answer: drop \`${content[0]}\`, or add \`break_after\` to fail in the middle of it`,
    );
  }
  if (reply.break_after !== undefined) {
    for (const key of given(['usage', 'finish'])) {
      fault(key, `an answer that breaks off has no \`${key}\``);
    }
  }
  return faults;
}

/** Invalid regular expressions, which are case-insensitive and in Unicode mode; reported with the engine's message. */
function brokenPatterns(when: WhenFile, path: (string | number)[]): SchemaFault[] {
  return (['message', 'system', 'tool_result'] as const).flatMap((key) => {
    const match = when[key];
    if (typeof match !== 'object' || match.matches === undefined) return [];
    try {
      new RegExp(match.matches, 'iu');
      return [];
    } catch (error) {
      const message = messageOf(error);
      return [{ path: [...path, key, 'matches'], isKey: false, message }];
    }
  });
}
