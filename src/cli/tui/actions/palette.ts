import { type CommandName, commands } from '../keys/bindings.ts';
import { type LineDialog, lineDialog } from '../state/dialog.ts';
import type { TuiState } from '../state/tui-state.ts';
import { emptyEdit } from '../text/line-edit.ts';

interface Entry {
  names: readonly string[];
  summary: string;
  run(rest: string): void;
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
      state.dialog = undefined;
      candidate.run?.(text.trim().slice(word.length).trim());
    },
  });
}

const candidateOf = ({ names, summary, run }: Entry) => ({ name: names[0] ?? '', summary, run });

function screenEntries(state: TuiState): Entry[] {
  return state.views.map(({ screen }, index) => ({
    names: [screen.id, screen.letter, ...screen.aliases],
    summary: `go to ${screen.title}`,
    run: () => state.show(index),
  }));
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
      run: () => run(name),
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
