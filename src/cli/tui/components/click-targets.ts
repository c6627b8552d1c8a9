import { changeForm } from '../actions/page-actions.ts';
import { pressRow } from '../actions/press-mouse.ts';
import { runCommand, sortList } from '../actions/run-command.ts';
import { tabOf } from '../state/page-stack.ts';
import type { ClickTarget, TuiState } from '../state/tui-state.ts';
import { columnAt } from '../text/list-table.ts';
import { hintAt } from './footer.ts';
import { screenTabAt, tabAt } from './header.ts';
import type { Layout } from './layout.ts';
import { pageTabAt } from './panes.ts';

interface Frame {
  columns: number;
  /** Of all lines above the key hints. */
  rows: number;
  layout: Layout;
}

/** What can be clicked in a frame. */
export function clickTargets(state: TuiState, { columns, rows, layout }: Frame): ClickTarget[] {
  if (state.options.isPlain) return [];
  const titleAt = layout.hasTabs ? 2 : 1;
  const bodyAt = titleAt + 1;
  const line = (y: number, press: ClickTarget['press']): ClickTarget => ({
    x: 0,
    y,
    width: columns,
    height: 1,
    press,
  });
  const targets = [
    line(titleAt, ({ x }) => {
      const tab = screenTabAt(state, x);
      if (tab !== undefined && tab !== state.view.tab) {
        state.view.setTab(tab);
        void state.reload();
      }
    }),
    line(rows, ({ x }) => {
      const command = hintAt(state, columns, x);
      if (command) runCommand(state, command);
    }),
  ];
  if (layout.hasTabs) {
    targets.push(
      line(1, ({ x }) => {
        const index = tabAt(state, columns, x);
        if (index !== undefined) state.show(index);
      }),
    );
  }
  if (layout.screens > 0) {
    const { screens: width, bodyRows: height } = layout;
    targets.push({ x: 0, y: bodyAt, width, height, press: ({ y }) => state.show(y) });
  }
  if (layout.main > 0) targets.push(...mainTargets(state, layout, bodyAt));
  return targets;
}

function mainTargets(state: TuiState, layout: Layout, y: number): ClickTarget[] {
  const hasSidebar = layout.screens > 0;
  const x = hasSidebar ? layout.screens + 2 : 0;
  const width = layout.main - (hasSidebar ? 1 : 0) - (layout.preview > 0 ? 1 : 0);
  const { front } = state.pages;
  if (front) {
    const { tabs } = front.page;
    if (!tabs) return [];
    const press: ClickTarget['press'] = (at) => {
      const tab = at.y === 0 ? pageTabAt(tabs, width, at.x) : undefined;
      if (tab !== undefined) state.showTab(front, tab);
      else if (at.y === 1) changeForm(state, front);
    };
    return [{ x, y, width, height: tabOf(front)?.forms ? 2 : 1, press }];
  }
  const area = state.listArea;
  if (!area) return [];
  const { titleAt, top, count } = area;
  const { view } = state;
  return [
    {
      x,
      y: y + titleAt,
      width,
      height: 1,
      press: (at) => {
        const title = columnAt(view.screen.columns(view.tab), area.width, at.x);
        if (title !== undefined) sortList(state, (one) => one.sortBy(title));
      },
    },
    { x, y: y + titleAt + 1, width, height: count, press: (at) => pressRow(state, top + at.y) },
  ];
}
