import type { TuiState } from '../state/tui-state.ts';
import type { MouseEvent } from '../terminal-input.ts';
import { openRow } from './row-actions.ts';
import { runCommand } from './run-command.ts';

const wheelRows = 3;

/** Does what the mouse asks for, where the last frame drew something. */
export function pressMouse(state: TuiState, { kind, x, y }: MouseEvent): void {
  // A dialog is answered with keys; a stray click must not confirm anything.
  if (state.dialog) return;
  state.notice = undefined;
  state.isGoing = false;
  if (kind !== 'click') {
    const isUp = kind === 'wheel-up';
    const command = isUp ? 'up' : 'down';
    for (let row = 0; row < wheelRows; row += 1) runCommand(state, command);
  } else {
    const target = state.targets.findLast(
      (one) => x >= one.x && x < one.x + one.width && y >= one.y && y < one.y + one.height,
    );
    target?.press({ x: x - target.x, y: y - target.y });
  }
  state.changed();
}

/** Selects a row of the list, or opens it if it is selected. */
export function pressRow(state: TuiState, index: number): void {
  const { view } = state;
  if (index >= view.rows().length) return;
  state.pane = 'list';
  if (index === view.index()) openRow(state);
  else view.select(index);
}
