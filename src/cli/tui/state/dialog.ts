import type { LineEdit } from '../text/line-edit.ts';
import type { FormDialog } from './form.ts';

/** A completion of the line. */
export interface Candidate {
  /** The completion for Tab. */
  name: string;
  summary: string;
  /** Runs the candidate with the text after its name. What it starts may end later, or fail. */
  run?(rest: string): void | Promise<void>;
}

/** An input line at the bottom of the screen. */
export interface LineDialog {
  kind: 'line';
  label: string;
  placeholder: string;
  edit: LineEdit;
  /** Why the last submission failed. */
  error: string | undefined;
  isBusy: boolean;
  onChange?(text: string): void;
  /** The dialog closes once this resolves, and shows the error if it throws. */
  submit(text: string, candidate: Candidate | undefined): void | Promise<void>;
  onCancel?(): void;
  /** Completions, best first. */
  candidates?(text: string): Candidate[];
  /** Index of the highlighted candidate; by default the first. */
  highlighted?: number;
}

/** A confirmation before something that cannot be undone. */
export interface ConfirmDialog {
  kind: 'confirm';
  question: string;
  verb: string;
  /** Whether the confirm button has the focus; initially Cancel has it. */
  isYes: boolean;
  run(): void;
  onCancel?(): void;
}

export type Dialog = LineDialog | ConfirmDialog | FormDialog;

export function lineDialog(options: Omit<LineDialog, 'kind' | 'error' | 'isBusy'>): LineDialog {
  return { kind: 'line', error: undefined, isBusy: false, ...options };
}
