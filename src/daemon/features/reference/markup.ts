/** Safe HTML. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Piece = Markup | string | number | false | undefined | readonly Piece[];

/** A template tag for HTML; interpolated strings are escaped, markup is not. */
export function html(strings: TemplateStringsArray, ...pieces: Piece[]): Markup {
  let text = strings[0] ?? '';
  for (const [at, piece] of pieces.entries()) text += textOf(piece) + (strings[at + 1] ?? '');
  return new Markup(text);
}

function textOf(piece: Piece): string {
  if (piece instanceof Markup) return piece.text;
  if (Array.isArray(piece)) return piece.map(textOf).join('');
  return piece === false || piece === undefined ? '' : escaped(String(piece));
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string => text.replace(/[&<>"']/g, (it) => entities[it] ?? it);

/** Renders the Markdown subset of descriptions: paragraphs, lists, `code` and **bold**. */
export function prose(markdown: string | undefined): Markup {
  if (!markdown) return html``;
  const blocks = markdown.split(/\n{2,}/).map((block) => {
    const lines = block.split('\n');
    if (lines.every((line) => line.startsWith('- '))) {
      return html`<ul>${lines.map((line) => html`<li>${inline(line.slice(2))}</li>`)}</ul>`;
    }
    return html`<p>${inline(lines.join(' '))}</p>`;
  });
  return html`${blocks}`;
}

/** Renders a single line of it. */
export function inline(text: string): Markup {
  const parts = text.split(/(`[^`]+`|\*\*[^*]+\*\*)/);
  return html`${parts.map((part) => {
    if (part.length > 2 && part.startsWith('`')) return html`<code>${part.slice(1, -1)}</code>`;
    if (part.startsWith('**')) return html`<strong>${part.slice(2, -2)}</strong>`;
    return part;
  })}`;
}

interface DocumentParts {
  title: string;
  style: string;
  script?: string;
  /** Of the body element. */
  bodyClass?: 'home';
  body: Markup;
}

/** A whole page, which needs nothing from other hosts. */
export function htmlDocument({ title, style, script, bodyClass, body }: DocumentParts): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${new Markup(style)}</style>
</head>
<body${bodyClass && html` class="${bodyClass}"`}>
${body}${
  script !== undefined &&
  html`
<script>${new Markup(script)}</script>`
}
</body>
</html>
`.text;
}
