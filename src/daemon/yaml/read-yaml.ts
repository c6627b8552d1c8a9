import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type Scalar,
  visit,
} from 'yaml';
import { messageOf } from '../../shared/faults/message-of.ts';
import type { SchemaFault } from './schema-faults.ts';

/** A fault in a file and its position; lines and columns count from 1. */
export interface YamlFault {
  file: string;
  line: number;
  column: number;
  message: string;
}

export interface ReadYaml {
  /** An empty file is an empty map. */
  value: unknown;
  /** The faults with their positions, from top to bottom. */
  placed(faults: readonly SchemaFault[]): YamlFault[];
}

/** More would not help anyone, and a file that is something else has thousands. */
const faultsMax = 100;

/** Parses YAML; syntax errors are reported with their position. */
export function readYaml(text: string, file: string): ReadYaml | { faults: YamlFault[] } {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, {
    lineCounter,
    prettyErrors: false,
    merge: true,
    logLevel: 'error',
    // The library compares each key with all others of its map, which takes minutes for thousands of keys.
    uniqueKeys: false,
  });
  const faultAt = (offset: number, message: string): YamlFault => {
    const { line, col } = lineCounter.linePos(offset);
    return { file, line: Math.max(1, line), column: Math.max(1, col), message };
  };
  const faultsOf = <Found>(found: readonly Found[], toFault: (each: Found) => YamlFault) =>
    found.length === 0 ? undefined : { faults: found.slice(0, faultsMax).map(toFault) };
  const broken = faultsOf([...document.errors, ...document.warnings], ({ pos, message }) =>
    faultAt(pos[0], `this is not YAML: ${message}`),
  );
  if (broken) return broken;
  const repeated = faultsOf(repeatedKeys(document), ({ range, value }) =>
    faultAt(range?.[0] ?? 0, `\`${String(value)}\` is already set above`),
  );
  if (repeated) return repeated;
  const lost = faultsOf(unresolvedAliases(document), ({ source, range }) =>
    faultAt(range?.[0] ?? 0, `there is no anchor named ${source}`),
  );
  if (lost) return lost;
  const read = plainValue(document);
  if ('message' in read) return { faults: [faultAt(0, read.message)] };
  const placed = (faults: readonly SchemaFault[]) =>
    faults
      .slice(0, faultsMax)
      .map((fault) => faultAt(offsetOf(document, fault), fault.message))
      .toSorted((a, b) => a.line - b.line || a.column - b.column);
  return { value: read.value, placed };
}

function plainValue(document: Document): { value: unknown } | { message: string } {
  try {
    return { value: document.toJS() ?? {} };
  } catch (error) {
    // Excessive alias expansion.
    return { message: messageOf(error) };
  }
}

function repeatedKeys(document: Document): Scalar[] {
  const repeated: Scalar[] = [];
  visit(document, {
    Map(_key, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) repeated.push(key);
        seen.add(key.value);
      }
    },
  });
  return repeated;
}

function unresolvedAliases(document: Document): Alias[] {
  const lost: Alias[] = [];
  const anchors = new Set<string>();
  visit(document, {
    Node(_key, node) {
      if (!isAlias(node)) {
        if (node.anchor !== undefined) anchors.add(node.anchor);
      } else if (!anchors.has(node.source)) lost.push(node);
    },
  });
  return lost;
}

/** The position of a fault; values from an alias or merge are located where it is used. */
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
