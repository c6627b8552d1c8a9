import type { WhisperThread } from '../../../shared/contract/whispers.ts';
import { type Candidate, lineDialog } from '../state/dialog.ts';
import type { ListView } from '../state/list-view.ts';
import type { TuiState } from '../state/tui-state.ts';
import { emptyEdit } from '../text/line-edit.ts';
import { openFetched } from './row-actions.ts';

/** The screens whose rows are conversations; those with people come first. */
const conversationScreens = ['whispers', 'threads'];

export function openConversation(state: TuiState): void {
  const { screen } = state.view;
  const row = state.view.selected();
  const { conversation } = screen;
  if (!conversation || row === undefined || state.pages.front) {
    state.notice = 'There is no conversation here.';
    return;
  }
  openFetched(state, row, () => conversation(row, state.options.services));
}

/** Opens the latest whispers that are unread. */
export function openNextUnread(state: TuiState): void {
  const view = state.viewOf('whispers');
  const rows = (view?.loadedRows() ?? []) as WhisperThread[];
  const row = rows.find(({ unread }) => unread > 0);
  if (!view || !row) state.notice = 'No unread whispers.';
  else openIn(state, view, row);
}

/** Asks for part of a name, and opens the matching conversation. */
export function findConversation(state: TuiState): void {
  const views = conversationScreens.flatMap((id) => state.viewOf(id) ?? []);
  for (const view of views) if (view.loadedAt === undefined) void state.reload(view);
  state.dialog = lineDialog({
    label: 'conversation',
    placeholder: 'part of a name; ↓ ↑ select',
    edit: emptyEdit,
    candidates: (text) => views.flatMap((view) => candidatesIn(state, view, text.trim().toLowerCase())),
    submit(_text, candidate) {
      if (!candidate) throw new Error('No conversation matches.');
      state.dialog = undefined;
      candidate.run?.('');
    },
  });
}

function candidatesIn(state: TuiState, view: ListView, wanted: string): Candidate[] {
  const [first] = view.screen.columns(0);
  const options = { ...state.textOptions(), width: 60 };
  return view
    .loadedRows()
    .map((row) => ({
      name: first?.text(row, options) ?? '',
      summary: `${view.screen.title.toLowerCase()}  ${view.screen.idOf(row)}`,
      run: () => openIn(state, view, row),
    }))
    .filter(({ name, summary }) => `${name} ${summary}`.toLowerCase().includes(wanted));
}

function openIn(state: TuiState, view: ListView, row: unknown): void {
  state.show(state.views.indexOf(view));
  view.setFilter('');
  view.select(view.rows().findIndex((one) => view.screen.idOf(one) === view.screen.idOf(row)));
  openFetched(state, row, () => view.screen.open(row, state.options.services));
}
