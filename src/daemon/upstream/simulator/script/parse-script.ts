import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isNode,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
} from 'yaml';
import { contradictions } from './contradictions.ts';
import { readScript } from './read-script.ts';
import type { SimulatorScript } from './script.ts';
import { type SchemaFault, schemaFaults } from './script-faults.ts';
import { ScriptFile } from './script-file.ts';

/** What is wrong with a script, and where; lines and columns count from 1. */
export interface ScriptFault {
  file: string;
  line: number;
  column: number;
  message: string;
}

export type ParsedScript = { script: SimulatorScript } | { faults: ScriptFault[] };

/** Reads a script; `docs/simulator.md` tells the format. A script with faults is not used at all: they are told together. */
export function parseSimulatorScript(yamlText: string, fileName: string): ParsedScript {
  const lineCounter = new LineCounter();
  const document = parseDocument(yamlText, {
    lineCounter,
    prettyErrors: false,
    merge: true,
    logLevel: 'error',
  });
  const faultAt = (offset: number, message: string): ScriptFault => {
    const { line, col } = lineCounter.linePos(offset);
    return { file: fileName, line: Math.max(1, line), column: Math.max(1, col), message };
  };
  const broken = [...document.errors, ...document.warnings];
  if (broken.length > 0) {
    return { faults: broken.map(({ pos, message }) => faultAt(pos[0], `this is not YAML: ${message}`)) };
  }
  const lost = unresolvedAliases(document);
  if (lost.length > 0) {
    return {
      faults: lost.map(({ source, range }) => faultAt(range?.[0] ?? 0, `no anchor is named ${source}`)),
    };
  }
  const read = plainValue(document);
  if ('message' in read) return { faults: [faultAt(0, read.message)] };
  const shape = schemaFaults(ScriptFile, read.value);
  // Contradictions are looked for in what has the right shape; the rest would give a second message for one fault.
  const found = shape.length > 0 ? shape : contradictions(read.value as ScriptFile);
  if (found.length > 0) {
    return { faults: found.map((fault) => faultAt(offsetOf(document, fault), fault.message)) };
  }
  return { script: readScript(read.value as ScriptFile, fileName) };
}

function plainValue(document: Document): { value: unknown } | { message: string } {
  try {
    return { value: document.toJS() ?? {} };
  } catch (error) {
    // Aliases that multiply beyond reason.
    return { message: error instanceof Error ? error.message : String(error) };
  }
}

function unresolvedAliases(document: Document): Alias[] {
  const lost: Alias[] = [];
  visit(document, {
    Alias(_key, alias) {
      if (!alias.resolve(document)) lost.push(alias);
    },
  });
  return lost;
}

/** Where a fault is in the text; what an alias or a merge brought in is shown where it was brought in. */
function offsetOf(document: Document, { path, isKey }: SchemaFault): number {
  let node: Node | null | undefined = document.contents;
  let offset = node?.range?.[0] ?? 0;
  for (const [at, part] of path.entries()) {
    if (isAlias(node)) node = node.resolve(document);
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => String(isNode(key) ? key.toJSON() : key) === String(part));
      const wanted: unknown = isKey && at === path.length - 1 ? pair?.key : (pair?.value ?? pair?.key);
      node = isNode(wanted) ? wanted : undefined;
    } else if (isSeq(node)) {
      const item: unknown = node.items[Number(part)];
      node = isNode(item) ? item : undefined;
    } else node = undefined;
    if (!node?.range) return offset;
    offset = node.range[0];
  }
  return offset;
}
