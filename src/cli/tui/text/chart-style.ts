/** What a colour stands for: the first and the second curve of a chart, and what went wrong. */
export type ChartColour = 'first' | 'second' | 'bad';

/** How charts are drawn on a terminal. */
export interface ChartStyle {
  /** `blocks` where the terminal's font has no braille. */
  glyphs: 'braille' | 'blocks';
  paint(colour: ChartColour, text: string): string;
}

/** Source: ECMA-48, select graphic rendition; xterm's table of 256 colours. */
const codes: Record<'all' | '256' | '16', Record<ChartColour, string>> = {
  all: { first: '38;2;92;170;184', second: '38;2;214;169;87', bad: '38;2;214;96;96' },
  256: { first: '38;5;73', second: '38;5;179', bad: '38;5;167' },
  16: { first: '36', second: '33', bad: '31' },
};

/** Charts for the terminal of an environment. */
export function chartStyleOf(
  env: Readonly<Record<string, string | undefined>>,
  { hasColours }: { hasColours: boolean },
): ChartStyle {
  const glyphs = env.TERM === 'linux' || !isUtf8(env) ? 'blocks' : 'braille';
  if (!hasColours) return { glyphs, paint: (_colour, text) => text };
  const table = codes[depthOf(env)];
  return { glyphs, paint: (colour, text) => `\u001b[${table[colour]}m${text}\u001b[0m` };
}

/** For text that is measured, compared or copied. */
export const plainCharts: ChartStyle = { glyphs: 'braille', paint: (_colour, text) => text };

function depthOf({
  COLORTERM,
  TERM = '',
}: Readonly<Record<string, string | undefined>>): 'all' | '256' | '16' {
  if (COLORTERM === 'truecolor' || COLORTERM === '24bit' || TERM.endsWith('-direct')) return 'all';
  return TERM.includes('256color') ? '256' : '16';
}

/** The first variable that is set decides, as in POSIX locales; most containers set none, and their terminals have Unicode. */
function isUtf8({ LC_ALL, LC_CTYPE, LANG }: Readonly<Record<string, string | undefined>>): boolean {
  const locale = LC_ALL || LC_CTYPE || LANG;
  return locale === undefined || locale === '' || /^(C|POSIX)$/.test(locale) || /utf-?8/i.test(locale);
}
