import { type CommandName, commands } from '../keys/bindings.ts';
import { type LineDialog, lineDialog } from '../state/dialog.ts';
import type { TuiState } from '../state/tui-state.ts';
import { emptyEdit } from '../text/line-edit.ts';
import { runLine } from './prompts.ts';

interface Entry {
  names: readonly string[];
  summary: string;
  run(rest: string): void | Promise<void>;
}

/** The command palette: screens by name or alias, and every command of the keys. */
export function paletteDialog(state: TuiState, run: (command: CommandName) => void): LineDialog {
  const entries = [...screenEntries(state), filterEntry(state), ...commandEntries(state, run)];
  return lineDialog({
    label: ':',
    placeholder: 'a screen or a command; Tab completes',
    edit: emptyEdit,
    candidates: (text) => matching(entries, firstWord(text)).map(candidateOf),
    submit(text, candidate) {
      const word = firstWord(text);
      if (!candidate) throw new Error(`Unknown command: ${word}.`);
      return candidate.run?.(text.trim().slice(word.length).trim());
    },
  });
}

const candidateOf = ({ names, summary, run }: Entry) => ({ name: names[0] ?? '', summary, run });

function screenEntries(state: TuiState): Entry[] {
  return state.views.map(({ screen }, index) => ({
    names: [screen.id, screen.letter, ...screen.aliases],
    summary: `go to ${screen.title}`,
    run: (rest) => (rest === '' ? state.show(index) : runOnScreen(state, index, rest)),
  }));
}

/** Runs what follows the name of a screen, like `issue --name ci` of `keys issue --name ci`. */
function runOnScreen(state: TuiState, index: number, rest: string): Promise<void> {
  const { screen } = state.views[index] ?? state.view;
  const verb = firstWord(rest);
  const isCreating = screen.compose && ['new', firstWord(screen.compose.label)].includes(verb);
  if (!screen.compose || !isCreating) {
    const allowed = screen.compose ? `, only ":${screen.id} ${firstWord(screen.compose.label)} …"` : '';
    throw new Error(
      `"${screen.id} ${verb}" cannot be run here${allowed}. Use the keys of the screen, or gateway in a shell.`,
    );
  }
  state.show(index);
  return runLine(state, screen.compose, rest.slice(verb.length).trim());
}

function filterEntry(state: TuiState): Entry {
  return {
    names: ['filter', 'grep'],
    summary: 'filter TEXT: show only matching rows',
    run: (rest) => state.view.setFilter(rest),
  };
}

const aliases: Partial<Record<CommandName, string[]>> = {
  quit: ['q', 'exit'],
  help: ['h'],
  refresh: ['reload'],
  remove: ['revoke', 'delete'],
  compose: ['new', 'issue'],
  edit: ['limits'],
  raw: ['json'],
};

function commandEntries(state: TuiState, run: (command: CommandName) => void): Entry[] {
  return (Object.keys(commands) as CommandName[])
    .filter((name) => !/^(screen-.*|palette|filter|log)$/.test(name) && state.isAvailable(name))
    .map((name) => ({
      names: [name, ...(aliases[name] ?? [])],
      summary: commands[name],
      run: (rest) => {
        const { compose } = state.view.screen;
        if (name === 'compose' && compose && rest !== '') return runLine(state, compose, rest);
        run(name);
      },
    }));
}

/** Exact names first, then names that start with the word, then names that contain it. */
function matching(entries: Entry[], word: string): Entry[] {
  const wanted = word.toLowerCase();
  const rankOf = ({ names }: Entry) => {
    if (names.includes(wanted)) return 0;
    if (names.some((name) => name.startsWith(wanted))) return 1;
    return names.some((name) => name.includes(wanted)) ? 2 : 3;
  };
  return entries
    .map((entry) => ({ entry, rank: rankOf(entry) }))
    .filter(({ rank }) => rank < 3)
    .sort((one, other) => one.rank - other.rank)
    .map(({ entry }) => entry);
}

function firstWord(text: string): string {
  return text.trim().split(/\s+/)[0] ?? '';
}
