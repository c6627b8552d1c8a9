import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';

/** A regular expression in the source. */
export interface FoundRegex {
  /** `src/shared/time/time.ts:32` */
  at: string;
  source: string;
  flags: string;
}

export interface RegexSource {
  found: FoundRegex[];
  /** Expressions that are only known when the program runs. */
  unknown: string[];
}

/**
 * Every regular expression of the program: literals and `new RegExp(…)`. What a template inserts at run time counts as the
 * letter `x`: the program escapes it.
 */
export function regularExpressions(): RegexSource {
  const found: FoundRegex[] = [];
  const unknown: string[] = [];
  for (const path of globSync('src/**/*.{ts,tsx}')) {
    if (!mayContainRegex(readFileSync(path, 'utf8'))) continue;
    const file = parsed(path);
    const at = (node: ts.Node) =>
      `${path}:${file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1}`;
    const visit = (node: ts.Node): void => {
      if (ts.isRegularExpressionLiteral(node)) {
        const end = node.text.lastIndexOf('/');
        const flags = node.text.slice(end + 1);
        found.push({
          at: at(node),
          source: node.text.slice(1, end),
          flags: isSplit(node) ? `${flags}g` : flags,
        });
      } else if (isRegExpCall(node)) {
        const [text, flags] = node.arguments ?? [];
        const source = text && constantText(text);
        if (source === undefined) unknown.push(at(node));
        else
          found.push({ at: at(node), source, flags: flags && ts.isStringLiteral(flags) ? flags.text : '' });
      }
      ts.forEachChild(node, visit);
    };
    visit(file);
  }
  return { found, unknown };
}

/** Parsing all files takes seconds, and most have slashes only in comments and imports. */
function mayContainRegex(text: string): boolean {
  const code = text.replaceAll(/^(?:import .*|\} from) '.*';$|^ *(?:\*|\/\/|\/\*\*) .*$/gm, '');
  return /\/|\bRegExp\b/.test(code);
}

const files = new Map<string, ts.SourceFile>();

function parsed(path: string): ts.SourceFile {
  const known = files.get(path);
  if (known !== undefined) return known;
  const file = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
  files.set(path, file);
  return file;
}

/** `text.split(/, ?/)` matches everywhere in the text. */
function isSplit({ parent }: ts.Node): boolean {
  return (
    ts.isCallExpression(parent) &&
    ts.isPropertyAccessExpression(parent.expression) &&
    parent.expression.name.text === 'split'
  );
}

function isRegExpCall(node: ts.Node): node is ts.NewExpression | ts.CallExpression {
  return (
    (ts.isNewExpression(node) || ts.isCallExpression(node)) &&
    ts.isIdentifier(node.expression) &&
    node.expression.text === 'RegExp'
  );
}

/** The text that an expression stands for; undefined if it is known only at run time. */
function constantText(node: ts.Expression): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTaggedTemplateExpression(node) && ts.isNoSubstitutionTemplateLiteral(node.template))
    return node.template.rawText;
  if (ts.isTemplateExpression(node))
    return node.templateSpans.reduce(
      (text, { expression, literal }) => text + (constantText(expression) ?? 'x') + literal.text,
      node.head.text,
    );
  return ts.isIdentifier(node) ? constantNamed(node.text, node) : undefined;
}

/** The text of a constant that is declared around a node, or imported. */
function constantNamed(name: string, around: ts.Node): string | undefined {
  for (let node = around.parent; node !== undefined; node = node.parent) {
    const statements = ts.isSourceFile(node) || ts.isBlock(node) ? [...node.statements] : [];
    for (const declaration of [node, ...statements].flatMap(declarationsIn)) {
      if (!ts.isIdentifier(declaration.name) || declaration.name.text !== name) continue;
      return declaration.initializer && constantText(declaration.initializer);
    }
  }
  return importedConstant(name, around.getSourceFile());
}

function declarationsIn(node: ts.Node): readonly ts.VariableDeclaration[] {
  if (ts.isVariableStatement(node)) return node.declarationList.declarations;
  const isLoop = ts.isForOfStatement(node) && ts.isVariableDeclarationList(node.initializer);
  return isLoop ? (node.initializer as ts.VariableDeclarationList).declarations : [];
}

function importedConstant(name: string, file: ts.SourceFile): string | undefined {
  for (const statement of file.statements) {
    if (!ts.isImportDeclaration(statement)) continue;
    const { text: from } = statement.moduleSpecifier as ts.StringLiteral;
    const names = statement.importClause?.namedBindings;
    const isFrom =
      names && ts.isNamedImports(names) && names.elements.some((element) => element.name.text === name);
    if (!isFrom || !from.startsWith('.')) continue;
    const exporting = parsed(join(dirname(file.fileName), from));
    return constantNamed(name, exporting.endOfFileToken);
  }
  return undefined;
}

/** The patterns of a schema and all that is within it. */
export function patternsOf(schema: unknown, at: string, seen = new Set<unknown>()): FoundRegex[] {
  if (typeof schema !== 'object' || schema === null || seen.has(schema)) return [];
  seen.add(schema);
  return Object.entries(schema).flatMap(([name, member]) =>
    name === 'pattern' && typeof member === 'string'
      ? { at, source: member, flags: 'u' }
      : patternsOf(member, at, seen),
  );
}
