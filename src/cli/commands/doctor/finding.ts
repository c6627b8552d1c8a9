/** What one check found. */
export interface Finding {
  check: string;
  state: 'ok' | 'warning' | 'broken';
  message: string;
  /** What to do about it; null when nothing is wrong. */
  remedy: string | null;
}
