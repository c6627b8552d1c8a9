import type { LineEdit } from '../text/line-edit.ts';

/** Something that the line being written may mean. */
export interface Candidate {
  /** What Tab writes. */
  name: string;
  summary: string;
  /** Does it; `rest` is what stands after its name. */
  run?(rest: string): void;
}

/** A line that a person writes at the foot of the screen. */
export interface LineDialog {
  kind: 'line';
  label: string;
  /** Shown while nothing is written. */
  hint: string;
  edit: LineEdit;
  /** Why what was written could not be done. */
  fault: string | undefined;
  isBusy: boolean;
  /** While it is written. */
  onChange?(text: string): void;
  /** Resolves when it is done and the line can go. Throws to say why not. `chosen` is the candidate that is pointed at. */
  submit(text: string, chosen: Candidate | undefined): void | Promise<void>;
  onCancel?(): void;
  /** What could be meant, best first. */
  candidates?(text: string): Candidate[];
  /** Which candidate is pointed at; the first unless told. */
  chosen?: number;
}

/** A question before something that cannot be taken back. */
export interface ConfirmDialog {
  kind: 'confirm';
  question: string;
  verb: string;
  /** Whether the button that does it is the chosen one; at first the other is. */
  isYes: boolean;
  run(): void;
}

export type Dialog = LineDialog | ConfirmDialog;
