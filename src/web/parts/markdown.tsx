// biome-ignore-all lint/suspicious/noArrayIndexKey: the tokens of a text do not change.

import { lexer, type Token, type Tokens } from 'marked';
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { LongText } from './long-text.tsx';

/**
 * A text with its Markdown applied. Only the lexer of marked is used: tokens become elements with text in them, HTML is shown
 * as it was written, and links and images, which lead to other hosts, are their text and address.
 */
export function Markdown({ text }: { text: string }) {
  const tokens = useMemo(() => tokensOf(text), [text]);
  if (tokens === undefined) return <LongText text={text} />;
  return (
    <div class="markdown" dir="auto">
      {blocks(tokens)}
    </div>
  );
}

const charactersMax = 100_000;

/** Undefined for a text that is too long, or nested so deeply that the lexer gives up. */
function tokensOf(text: string): readonly Token[] | undefined {
  if (text.length > charactersMax) return undefined;
  try {
    return lexer(text);
  } catch {
    return undefined;
  }
}

/** What is nested more deeply is shown as it was written. */
const depthMax = 40;

function blocks(tokens: readonly Token[], depth = 0): ComponentChildren[] {
  return tokens.map((token, at) => <Block key={at} token={token} depth={depth} />);
}

function Block({ token, depth }: { token: Token; depth: number }) {
  if (depth > depthMax) return <p>{token.raw}</p>;
  switch (token.type) {
    case 'space':
    case 'def':
      return null;
    case 'checkbox':
      return <>{token.checked ? '☑ ' : '☐ '}</>;
    case 'hr':
      return <hr />;
    case 'heading':
      return <p class="markdown-heading">{inline(token.tokens, depth)}</p>;
    case 'code':
      return (
        <pre>
          <code>{token.text}</code>
        </pre>
      );
    case 'blockquote':
      return <blockquote>{blocks(token.tokens ?? [], depth + 1)}</blockquote>;
    case 'list':
      return <List list={token as Tokens.List} depth={depth} />;
    case 'table':
      return <Table table={token as Tokens.Table} depth={depth} />;
    case 'paragraph':
      return <p>{inline(token.tokens, depth)}</p>;
    case 'text':
      return <>{token.tokens ? inline(token.tokens, depth) : token.text}</>;
    default:
      return <p>{token.raw}</p>;
  }
}

function List({ list: { ordered, start, items }, depth }: { list: Tokens.List; depth: number }) {
  const rows = items.map((item, at) => <li key={at}>{blocks(item.tokens, depth + 1)}</li>);
  return ordered ? <ol start={Number(start) || 1}>{rows}</ol> : <ul>{rows}</ul>;
}

function Table({ table: { header, rows }, depth }: { table: Tokens.Table; depth: number }) {
  return (
    <table class="plain-table">
      <thead>
        <tr>
          {header.map(({ tokens }, at) => (
            <th key={at} scope="col">
              {inline(tokens, depth)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((cells, row) => (
          <tr key={row}>
            {cells.map(({ tokens }, at) => (
              <td key={at}>{inline(tokens, depth)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function inline(tokens: readonly Token[] | undefined, depth: number): ComponentChildren[] {
  return (tokens ?? []).map((token, at) => <Inline key={at} token={token} depth={depth + 1} />);
}

function Inline({ token, depth }: { token: Token; depth: number }) {
  if (depth > depthMax) return <>{token.raw}</>;
  switch (token.type) {
    case 'strong':
      return <strong>{inline(token.tokens, depth)}</strong>;
    case 'em':
      return <em>{inline(token.tokens, depth)}</em>;
    case 'del':
      return <del>{inline(token.tokens, depth)}</del>;
    case 'codespan':
      return <code>{token.text}</code>;
    case 'br':
      return <br />;
    case 'escape':
      return <>{token.text}</>;
    case 'link':
    case 'image':
      return (
        <>
          {token.text} <code class="quiet">{token.href}</code>
        </>
      );
    case 'text':
      return <>{token.tokens ? inline(token.tokens, depth) : token.text}</>;
    default:
      return <>{token.raw}</>;
  }
}
