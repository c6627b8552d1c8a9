import { visibleCell } from '../../output/visible.ts';
import { widthOf } from '../../output/width.ts';
import { keysOf } from '../keys/bindings.ts';
import type { CommandName } from '../keys/command-names.ts';
import { shownKey } from '../keys/key-name.ts';
import { applies } from '../model/applies.ts';
import type { LineDialog } from '../model/dialog.ts';
import type { TuiModel } from '../model/tui-model.ts';
import type { Drawing } from '../screen.ts';
import { broken, fitCell } from '../text/cells.ts';
import { fitPainted, paintedWidth } from '../text/painted.ts';

const words: Partial<Record<CommandName, string>> = {
  open: 'open',
  back: 'back',
  pause: 'pause',
  filter: 'filter',
  copy: 'copy',
  'copy-command': 'as command',
  edit: 'limits',
  conversation: 'whispers',
  'next-unread': 'unread',
  browse: 'reference',
  mark: 'mark',
  refresh: 'refresh',
  'next-tab': 'next tab',
  help: 'help',
  palette: 'command',
  go: 'go',
  quit: 'quit',
};

/** Shown at the foot of a page, where the screen has them. */
const pageCommands: CommandName[] = ['reply'];

/** The last line: the keys that work now. */
export function keysLine(model: TuiModel, { width, paint }: Drawing): string {
  const hints = hintsOf(model).map(([key, word]) => `${paint('bold', key)} ${word}`);
  while (hints.length > 1 && paintedWidth(hints.join('  ')) > width) hints.splice(-3, 1);
  return fitPainted(hints.join('  '), width);
}

type Hint = [key: string, word: string];

function hintsOf(model: TuiModel): Hint[] {
  const { dialog, view, pages, options } = model;
  if (dialog?.kind === 'confirm') {
    return [
      ['Tab', 'change'],
      ['Enter', 'choose'],
      ['y', dialog.verb.toLowerCase()],
      ['Esc', 'leave'],
    ];
  }
  if (dialog) {
    return [
      ['Enter', 'do'],
      ...(dialog.candidates
        ? ([
            ['↓ ↑', 'choose'],
            ['Tab', 'complete'],
          ] satisfies Hint[])
        : []),
      ['Esc', 'leave'],
    ];
  }
  if (model.isGoing) return [['Esc', 'stay here']];
  const names: CommandName[] = pages.front
    ? ['back', ...pageCommands.filter((name) => applies(model, name)), 'copy', 'help', 'quit']
    : [...view.screen.footer.filter((name) => applies(model, name)), 'go', 'palette', 'help', 'quit'];
  return names.flatMap((name): Hint[] => {
    const [key] = keysOf(options.bindings, view.screen.id, name);
    const word = ownWord(model, name) ?? words[name];
    return key === undefined ? [] : [[shownKey(key), word ?? name]];
  });
}

/** What a command is called on a screen that has a word of its own for it. */
function ownWord(model: TuiModel, name: CommandName): string | undefined {
  const { screen } = model.view;
  if (name === 'remove') return screen.remove?.verb.toLowerCase();
  if (name === 'compose') return screen.compose?.label;
  if (name === 'reply') return model.reply()?.label;
  return undefined;
}

interface SaidLine {
  lines: string[];
  /** Where the cursor of the terminal is, in cells from the left of the last line; undefined where nobody writes. */
  cursor: number | undefined;
}

const candidatesMax = 6;
const candidateWidthMax = 40;
const noticeLinesMax = 3;
const faultLinesMax = 4;

/** The lines above the keys: what is asked, written or said. The last one is always there. */
export function saidLines(model: TuiModel, drawing: Drawing): SaidLine {
  const { dialog, notice } = model;
  const { width, paint } = drawing;
  if (model.isGoing) return { lines: [...goLines(model, drawing), ''], cursor: undefined };
  if (!dialog) {
    const lines = notice === undefined ? [''] : noticeLines(notice, width).map((line) => paint('bold', line));
    return { lines, cursor: undefined };
  }
  if (dialog.kind === 'confirm') {
    const button = (text: string, isChosen: boolean) =>
      isChosen ? paint('inverse', `[>${text}<]`) : `[ ${text} ]`;
    const buttons = `${button('Cancel', !dialog.isYes)} ${button(dialog.verb, dialog.isYes)}`;
    return {
      lines: [fitPainted(visibleCell(dialog.question), width), fitPainted(buttons, width)],
      cursor: undefined,
    };
  }
  return writtenLines(dialog, drawing);
}

/** Long ones are broken: what is cut off may be what a person needs. */
function noticeLines(notice: string, width: number): string[] {
  const lines = broken(visibleCell(notice), width);
  return lines.slice(0, noticeLinesMax);
}

const goCellWidth = 14;

/** The letters of the screens, in as many columns as there is room for. */
function goLines(model: TuiModel, { width, paint }: Drawing): string[] {
  const cells = model.views.map(
    ({ screen: { letter, title } }) =>
      `${paint('bold', letter)} ${title}${' '.repeat(Math.max(1, goCellWidth - title.length - 2))}`,
  );
  const inLine = Math.max(1, Math.floor(width / goCellWidth));
  return Array.from({ length: Math.ceil(cells.length / inLine) }, (_, at) =>
    cells.slice(at * inLine, (at + 1) * inLine).join(''),
  );
}

/** Candidates around the one that is pointed at. */
function candidateLines(dialog: LineDialog, { width, paint }: Drawing): string[] {
  const candidates = dialog.candidates?.(dialog.edit.text) ?? [];
  const chosen = Math.min(dialog.chosen ?? 0, candidates.length - 1);
  const top = Math.max(0, Math.min(chosen - candidatesMax + 1, candidates.length - candidatesMax));
  const shown = candidates.slice(top, top + candidatesMax);
  const nameWidth = Math.max(0, ...shown.map(({ name }) => Math.min(candidateWidthMax, widthOf(name))));
  return shown.map(({ name, summary }, at) => {
    const isChosen = top + at === chosen;
    const text = `${isChosen ? '❯' : ' '} ${fitCell(visibleCell(name), nameWidth)}  ${visibleCell(summary)}`;
    return isChosen ? paint('inverse', fitCell(text, width)) : fitCell(text, width);
  });
}

function writtenLines(dialog: LineDialog, drawing: Drawing): SaidLine {
  const { width, paint } = drawing;
  const above = candidateLines(dialog, drawing);
  const fault = dialog.fault ? broken(`! ${visibleCell(dialog.fault)}`, width) : [];
  above.push(...fault.slice(0, faultLinesMax).map((line) => fitPainted(paint('red', line), width)));
  const label = dialog.label.length > 1 ? `${dialog.label}: ` : dialog.label;
  if (dialog.isBusy) return { lines: [...above, fitPainted(`${label}…`, width)], cursor: undefined };
  const { text, cursor } = dialog.edit;
  const room = width - widthOf(label) - 1;
  const before = visibleCell(text.slice(0, cursor));
  // A line that is too long is seen around the cursor.
  const skipped = Math.max(0, [...before].length - room);
  const seen = [...visibleCell(text)].slice(skipped).join('');
  const shown = text === '' ? paint('dim', dialog.hint) : seen;
  return {
    lines: [...above, fitPainted(label + shown, width)],
    cursor: widthOf(label) + widthOf([...before].slice(skipped).join('')),
  };
}
