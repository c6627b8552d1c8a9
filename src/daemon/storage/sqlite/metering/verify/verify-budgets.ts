import type { Connection } from '../../engine/connection.ts';
import { subjectSpending } from '../limits/subject-spending.ts';
import { indexKinds } from '../usage/index-kinds.ts';

interface LabelBudget {
  workspaceId: string;
  kind: 'user' | 'tag';
  value: string;
}

interface LabelSum {
  subject: string;
  charged: number;
}

/**
 * Adds up what all calls of each user and tag with a budget were charged, and compares it with what the budget counts. What
 * budgets of workspaces and keys count are totals that are verified for all of them.
 */
export class BudgetsVerification {
  readonly #subjects: (LabelBudget & { name: string })[];
  readonly #sums = new Map<string, number>();
  readonly #read: (from: number, to: number) => LabelSum[];
  readonly #spent: (subject: LabelBudget) => number;

  constructor(database: Connection) {
    this.#subjects = database
      .prepare<[], LabelBudget & { name: string }>(
        `SELECT DISTINCT workspace_id AS workspaceId, scope AS kind, scope_value AS value,
           workspace.number || ' ' || CASE scope WHEN 'user' THEN ${indexKinds.user} ELSE ${indexKinds.tag} END || ' ' || label.number AS name
         FROM budgets JOIN names AS workspace ON workspace.text = workspace_id JOIN names AS label ON label.text = scope_value
         WHERE scope IN ('user', 'tag')`,
      )
      .all();
    const names = JSON.stringify(this.#subjects.map(({ name }) => name));
    const sums = database.prepare<[{ from: number; to: number; names: string }], LabelSum>(
      `SELECT subject, sum(charged) AS charged FROM (
         SELECT workspace || ' ${indexKinds.user} ' || end_user AS subject, charged FROM calls
           WHERE number BETWEEN @from AND @to AND end_user IS NOT NULL
         UNION ALL SELECT workspace || ' ${indexKinds.tag} ' || json_each.value, charged
           FROM calls CROSS JOIN json_each(calls.tags) WHERE number BETWEEN @from AND @to AND tags IS NOT NULL) AS labelled
       WHERE subject IN (SELECT value FROM json_each(@names)) GROUP BY subject`,
    );
    this.#read = (from, to) => sums.all({ from, to, names });
    const subjectSpend = subjectSpending(database);
    this.#spent = ({ workspaceId, kind, value }) =>
      subjectSpend({ workspaceId, kind, value }, { at: 0 }).none;
  }

  /** Adds the calls in a range of numbers. */
  read(from: number, to: number): void {
    if (this.#subjects.length === 0) return;
    for (const { subject, charged } of this.#read(from, to)) {
      this.#sums.set(subject, (this.#sums.get(subject) ?? 0) + charged);
    }
  }

  /** Whose spending is counted wrongly, like `the user ann in ws_1`. Call it in the transaction of the last read. */
  wrong(): string[] {
    return this.#subjects
      .filter((subject) => this.#spent(subject) !== (this.#sums.get(subject.name) ?? 0))
      .map(({ workspaceId, kind, value }) => `the ${kind} ${value} in ${workspaceId}`);
  }
}
