import type { Migration } from '../migrate.ts';

/** Budgets have a calendar, and calls hold money of the models and providers that may answer them. */
export const budgetCalendars: Migration = {
  version: 65,
  rows: {},
  statements: ['ALTER TABLE budgets ADD COLUMN calendar TEXT', 'ALTER TABLE holds ADD COLUMN routes TEXT'],
};
