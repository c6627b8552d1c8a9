import type { WhisperThread } from '../../../shared/contract/whispers.ts';
import { emptyEdit } from '../text/line-edit.ts';
import type { Candidate } from './dialog.ts';
import type { ListView } from './list-view.ts';
import { openFetched } from './row-commands.ts';
import type { TuiModel } from './tui-model.ts';

/** The screens that hold conversations, the ones with people first. */
const talkScreens = ['whispers', 'threads'];

/** How many whispers were not read; undefined where that is not known. */
export function unreadCount(model: TuiModel): number | undefined {
  const view = model.viewOf('whispers');
  if (view?.loadedAt === undefined || view.failure !== undefined) return undefined;
  return (view.fetchedRows() as WhisperThread[]).reduce((sum, { unread }) => sum + unread, 0);
}

/** Opens the person whose whispers were not read, the latest first. */
export function openNextUnread(model: TuiModel): void {
  const view = model.viewOf('whispers');
  const rows = (view?.fetchedRows() ?? []) as WhisperThread[];
  const row = rows.find(({ unread }) => unread > 0);
  if (!view || !row) model.notice = 'Nothing is unread.';
  else openIn(model, view, row);
}

/** Asks for a conversation by a part of its name, and opens it. */
export function pickConversation(model: TuiModel): void {
  const views = talkScreens.flatMap((id) => model.viewOf(id) ?? []);
  for (const view of views) if (view.loadedAt === undefined) void model.refresh(view);
  model.dialog = {
    kind: 'line',
    label: 'conversation',
    hint: 'a part of a name; ↓ ↑ choose',
    edit: emptyEdit,
    fault: undefined,
    isBusy: false,
    candidates: (text) => views.flatMap((view) => candidatesIn(model, view, text.trim().toLowerCase())),
    submit(_text, chosen) {
      if (!chosen) throw new Error('There is no such conversation.');
      model.dialog = undefined;
      chosen.run?.('');
    },
  };
}

function candidatesIn(model: TuiModel, view: ListView, wanted: string): Candidate[] {
  const [first] = view.screen.columns(0);
  const drawing = { ...model.drawing(), width: 60 };
  return view
    .fetchedRows()
    .map((row) => ({
      name: first?.text(row, drawing) ?? '',
      summary: `${view.screen.title.toLowerCase()}  ${view.screen.idOf(row)}`,
      run: () => openIn(model, view, row),
    }))
    .filter(({ name, summary }) => `${name} ${summary}`.toLowerCase().includes(wanted));
}

function openIn(model: TuiModel, view: ListView, row: unknown): void {
  model.show(model.views.indexOf(view));
  view.setFilter('');
  view.select(view.rows().findIndex((one) => view.screen.idOf(one) === view.screen.idOf(row)));
  openFetched(model, row, () => view.screen.open(row, model.options.services));
}
