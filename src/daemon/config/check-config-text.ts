import { Ajv, type ErrorObject } from 'ajv';
import { LineCounter, parseDocument } from 'yaml';
import type { ConfigFault } from './read-config-file.ts';
import { ConfigFile } from './schema.ts';

// This schema is our own and compiled once a start: nothing is gained by checking it or by polishing its code.
const checking = {
  allErrors: true,
  strict: false,
  meta: false,
  validateSchema: false,
  code: { optimize: false },
} as const;

/** Parses and checks the text of a config file; every fault has its line. */
export function checkConfigText(text: string, path: string): { file: ConfigFile; faults: ConfigFault[] } {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const at = (offset: number | undefined) =>
    `${path}:${offset === undefined ? 1 : lines.linePos(offset).line}`;
  if (document.errors.length > 0) {
    const faults = document.errors.map((error) => ({
      place: at(error.pos[0]),
      message: error.message.split('\n')[0] ?? error.message,
    }));
    return { file: {}, faults };
  }
  const file = (document.toJS() ?? {}) as ConfigFile;
  const validate = new Ajv(checking).compile<ConfigFile>(ConfigFile);
  if (validate(file)) return { file, faults: [] };
  const faults = (validate.errors ?? []).filter(isUseful).map((error) => {
    const keys = error.instancePath.split('/').slice(1);
    const node = document.getIn(keys, true) as { range?: [number, number, number] } | undefined;
    const extra =
      error.keyword === 'additionalProperties' ? String(error.params.additionalProperty) : undefined;
    const name = [...keys, ...(extra === undefined ? [] : [extra])].join('.');
    const message = extra === undefined ? `${name}: ${error.message}` : `${name}: there is no such setting`;
    return { place: at(node?.range?.[0]), message };
  });
  return { file: {}, faults: unique(faults) };
}

/** A union's own error says less than those of its branches. */
function isUseful(error: ErrorObject): boolean {
  return error.keyword !== 'anyOf';
}

function unique(faults: ConfigFault[]): ConfigFault[] {
  return [...new Map(faults.map((fault) => [`${fault.place} ${fault.message}`, fault])).values()];
}
