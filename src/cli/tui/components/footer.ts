import { escapeCell } from '../../output/escape-controls.ts';
import { cutToWidth, widthOf } from '../../output/width.ts';
import { wrapLine } from '../../output/wrap-line.ts';
import { type CommandName, keysOf } from '../keys/bindings.ts';
import { keyLabel } from '../keys/key-name.ts';
import type { LineDialog } from '../state/dialog.ts';
import { type FormDialog, focusedField } from '../state/form.ts';
import type { OpenPage } from '../state/page-stack.ts';
import type { TuiState } from '../state/tui-state.ts';
import { fitCell, fitPainted } from '../text/cells.ts';
import { editWindow } from '../text/edit-window.ts';
import type { RenderOptions } from '../text/render-options.ts';
import { formLines } from './form.ts';

const labels: Partial<Record<CommandName, string>> = {
  'copy-command': 'copy as command',
  conversation: 'whispers',
  'next-unread': 'unread',
  browse: 'reference',
  compare: 'diff',
  'next-tab': 'next tab',
  palette: 'command',
};

const pageLabels: Partial<Record<CommandName, string>> = {
  filter: 'search',
  'next-tab': 'next row',
  'next-row': 'next row',
  'next-pane': 'other form',
  'copy-curl': 'curl',
  'next-match': 'next',
  'previous-match': 'previous',
};

type Hint = [key: string, label: string, command?: CommandName];

/** The last line: the keys that work now. */
export function keyHintsLine(state: TuiState, { width, paint }: RenderOptions): string {
  const hints = fittingHints(state, width).map(([key, label]) => `${paint('bold', key)} ${label}`);
  return fitPainted(hints.join('  '), width);
}

function fittingHints(state: TuiState, width: number): Hint[] {
  const hints = hintsOf(state);
  const widthOfAll = () => hints.reduce((sum, [key, label]) => sum + widthOf(`${key} ${label}  `), -2);
  while (hints.length > 1 && widthOfAll() > width) hints.splice(-3, 1);
  return hints;
}

/** The command at a cell of the last line; undefined in a dialog, and between them. */
export function hintAt(state: TuiState, width: number, cell: number): CommandName | undefined {
  let from = 0;
  for (const [key, label, command] of fittingHints(state, width)) {
    const to = from + widthOf(`${key} ${label}`);
    if (cell >= from && cell < to) return command;
    from = to + 2;
  }
  return undefined;
}

function hintsOf(state: TuiState): Hint[] {
  const { dialog, view, pages, options } = state;
  if (dialog?.kind === 'confirm') {
    return [
      ['Tab', 'switch'],
      ['Enter', 'select'],
      ['y', dialog.verb.toLowerCase()],
      ['Esc', 'cancel'],
    ];
  }
  if (dialog?.kind === 'form') return formHints(dialog);
  if (dialog) {
    const completion: Hint[] = dialog.candidates
      ? [
          ['↓ ↑', 'select'],
          ['Tab', 'complete'],
        ]
      : [];
    return [['Enter', 'submit'], ...completion, ['Esc', 'cancel']];
  }
  if (state.isGoing) return [['Esc', 'cancel']];
  const names: CommandName[] = pages.front
    ? pageHints(pages.front)
    : [...view.screen.footer, 'go', 'palette', 'help', 'quit'];
  return names
    .filter((name) => state.isAvailable(name))
    .flatMap((name): Hint[] => {
      const [key] = keysOf(options.bindings, view.screen.id, name);
      return key === undefined ? [] : [[keyLabel(key), labelOf(state, name), name]];
    });
}

function formHints(form: FormDialog): Hint[] {
  const isChoice = focusedField(form)?.kind === 'choice';
  return [
    ['Enter', 'save'],
    ['Tab', 'next field'],
    ...(isChoice ? [['← →', 'choose'] as Hint] : []),
    ['Esc', 'cancel'],
  ];
}

function pageHints({ page, search, isOfRow }: OpenPage): CommandName[] {
  const steps: CommandName[] = search
    ? ['next-match', 'previous-match']
    : page.tabs
      ? ['next-tab', 'next-pane', 'next-row']
      : isOfRow
        ? ['next-tab']
        : [];
  const compare: CommandName[] = page.tabs ? ['compare'] : [];
  return ['back', 'open', ...steps, 'filter', 'reply', ...compare, 'copy', 'copy-curl', 'help', 'quit'];
}

function labelOf(state: TuiState, name: CommandName): string {
  const { screen } = state.view;
  const { front } = state.pages;
  if (front?.page.tabs && name === 'next-tab') return 'next tab';
  if (front && name === 'open') return front.isUnfolded ? 'fold' : 'unfold';
  if (front && Object.hasOwn(pageLabels, name)) return pageLabels[name] ?? name;
  if (name === 'remove' && screen.remove) return screen.remove.verb.toLowerCase();
  if (name === 'compose' && screen.compose) return screen.compose.label;
  if (name === 'edit' && screen.edit) return screen.edit.label;
  if (name === 'reply') return state.reply()?.label ?? name;
  if (name === 'pause' && state.view.isPaused) return 'resume';
  return labels[name] ?? name;
}

interface StatusLines {
  lines: string[];
  /** Undefined if nothing is being typed. */
  cursor: { line: number; column: number } | undefined;
}

const candidatesMax = 6;
const candidateWidthMax = 40;
const noticeLinesMax = 6;
const errorLinesMax = 6;

/** The header, the title, three lines of the body, and the key hints. */
const otherRows = 6;

/** The lines above the key hints: a notice, a confirmation, a form or an input line. The last line is always there. */
export function statusLines(state: TuiState, options: RenderOptions): StatusLines {
  const { dialog, notice } = state;
  const { width, paint } = options;
  if (state.isGoing) return { lines: [...goLines(state, options), ''], cursor: undefined };
  if (dialog?.kind === 'confirm') {
    const button = (text: string, isFocused: boolean) =>
      isFocused ? paint('inverse', `[>${text}<]`) : `[ ${text} ]`;
    const buttons = `${button('Cancel', !dialog.isYes)} ${button(dialog.verb, dialog.isYes)}`;
    return {
      lines: [fitPainted(escapeCell(dialog.question), width), fitPainted(buttons, width)],
      cursor: undefined,
    };
  }
  if (dialog?.kind === 'form')
    return formLines(dialog, { ...options, height: (options.height ?? 24) - otherRows });
  if (dialog) return inputLines(dialog, options);
  if (notice === undefined) return { lines: [''], cursor: undefined };
  const lines = wrapLine(escapeCell(notice), width).slice(0, noticeLinesMax);
  return { lines: lines.map((line) => paint('bold', line)), cursor: undefined };
}

const goCellWidth = 14;

/** The letters of the screens. */
function goLines(state: TuiState, { width, paint }: RenderOptions): string[] {
  const cells = state.views.map(
    ({ screen: { letter, title } }) =>
      `${paint('bold', letter)} ${title}${' '.repeat(Math.max(1, goCellWidth - title.length - 2))}`,
  );
  const perLine = Math.max(1, Math.floor(width / goCellWidth));
  return Array.from({ length: Math.ceil(cells.length / perLine) }, (_, at) =>
    cells.slice(at * perLine, (at + 1) * perLine).join(''),
  );
}

/** The candidates around the highlighted one. */
function candidateLines(dialog: LineDialog, { width, paint }: RenderOptions): string[] {
  const candidates = dialog.candidates?.(dialog.edit.text) ?? [];
  const highlighted = Math.min(dialog.highlighted ?? 0, candidates.length - 1);
  const top = Math.max(0, Math.min(highlighted - candidatesMax + 1, candidates.length - candidatesMax));
  const shown = candidates.slice(top, top + candidatesMax);
  const nameWidth = Math.max(0, ...shown.map(({ name }) => Math.min(candidateWidthMax, widthOf(name))));
  return shown.map(({ name, summary }, at) => {
    const isHighlighted = top + at === highlighted;
    const sign = isHighlighted ? '❯' : ' ';
    const text = `${sign} ${fitCell(escapeCell(name), nameWidth)}  ${escapeCell(summary)}`;
    return isHighlighted ? paint('inverse', fitCell(text, width)) : fitCell(text, width);
  });
}

function inputLines(dialog: LineDialog, options: RenderOptions): StatusLines {
  const { width, paint } = options;
  const above = candidateLines(dialog, options);
  const error = dialog.error ? wrapLine(`! ${escapeCell(dialog.error)}`, width) : [];
  above.push(...error.slice(0, errorLinesMax).map((line) => fitPainted(paint('red', line), width)));
  // A label may name a row, and so contain what others wrote.
  const name = cutToWidth(escapeCell(dialog.label), Math.floor(width / 2));
  const label = name.length > 1 ? `${name}: ` : name;
  if (dialog.isBusy) return { lines: [...above, fitPainted(`${label}…`, width)], cursor: undefined };
  const seen = editWindow(dialog.edit, width - widthOf(label) - 1);
  const shown = dialog.edit.text === '' ? paint('dim', dialog.placeholder) : seen.text;
  return {
    lines: [...above, fitPainted(label + shown, width)],
    cursor: { line: above.length, column: widthOf(label) + seen.cursor },
  };
}
