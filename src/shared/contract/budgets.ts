import { type Static, Type } from 'typebox';
import { budgetIdPattern } from '../constants/budget-ids.ts';
import { spendPeriods } from '../money/spend-periods.ts';
import { endpoint } from './endpoint.ts';
import { calendarMembers, calendarSettings } from './spend-calendar.ts';
import {
  amount,
  deleted,
  listOf,
  maybe,
  nullable,
  Timestamp,
  Usd,
  WorkspaceReference,
} from './vocabulary.ts';

/** Each call looks at those that count it, and a list reads the spending of all. */
export const budgetsMax = 500;

export const budgetScopes = ['workspace', 'key', 'user', 'tag', 'model', 'provider', 'where'] as const;
export const defaultThresholds = [50, 80, 100] as const;

export { budgetIdPattern };

/** The highest percentage, and how many a budget can have. */
export const thresholdMax = 1000;
export const thresholdsMax = 10;

const BudgetId = Type.String({
  pattern: budgetIdPattern,
  description: 'Its name in the workspace: lower-case letters, digits, `_` and `-`, such as `team-search`.',
});

const Scope = Type.Enum([...budgetScopes], {
  description:
    'Which calls it counts: those of the workspace, of a key and the keys that it issued, of an end user, with a tag, those that a model or a provider answers, or those that match a filter.',
});

const Period = Type.Enum([...spendPeriods], {
  description:
    'In the time zone, and with the starts of days and weeks that are set. `none`: it never resets.',
});

const Thresholds = Type.Array(
  Type.Integer({ minimum: 1, maximum: thresholdMax, description: 'A percentage of the amount.' }),
  {
    maxItems: thresholdsMax,
    uniqueItems: true,
    description:
      'When spending reaches one of these, the event `budget.threshold` is stored, once in each period.',
  },
);

/** A limit on what some of the calls of a workspace spend. */
export const Budget = Type.Object(
  {
    id: BudgetId,
    object: Type.Literal('budget'),
    scope: Scope,
    value: nullable(
      Type.String({
        description:
          'The id of the key, the user, the tag as `name=value`, the id of the model, the name of the provider, or the filter; null for a workspace.',
      }),
    ),
    usd: Usd,
    period: Period,
    ...calendarMembers,
    hard: Type.Boolean({
      description:
        'Whether calls that could exceed it are rejected. Otherwise it only reports what is spent.',
    }),
    thresholds: Thresholds,
    spent_usd: Usd,
    held_usd: Type.String({ description: 'Reserved for running calls, in dollars.' }),
    remaining_usd: Type.String({
      description: 'What is neither spent nor reserved, in dollars; not below zero.',
    }),
    forecast_usd: nullable(
      Type.String({
        description:
          'What will be spent at the end of the period if spending goes on as in the period so far, in dollars. Null without a period, and in its first fiftieth.',
      }),
    ),
    reached_at: nullable(
      Type.String({
        format: 'date-time',
        description:
          'When it will be used up at that rate; null if that is not in this period, or has happened.',
      }),
    ),
    period_start: nullable(Timestamp),
    resets_at: nullable(Timestamp),
    fired: Type.Array(Type.Object({ percent: Type.Integer(), at: Timestamp }), {
      description: 'The thresholds that were reached in this period.',
    }),
    refused_at: nullable(
      Type.String({ format: 'date-time', description: 'When it first rejected a call in this period.' }),
    ),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: 'Budget', description: 'A limit on what some of the calls of a workspace spend.' },
);

export const BudgetSettings = Type.Object(
  {
    usd: amount('Dollars, from 0 to 9,000,000: `"5"` or `"0.25"`.'),
    period: Period,
    scope: maybe(Scope),
    value: maybe(
      Type.String({
        minLength: 1,
        maxLength: 1000,
        description:
          'The id of a key, a user, a tag as `name=value`, the id of a model like `openai/gpt-5`, the name of a provider, or a filter like `model:openai/* -tag:team=search` in the language in which calls are searched, by endpoint, model, provider, key, client, user, conversation, tag or replay. None for the workspace, which is the default.',
      }),
    ),
    ...calendarSettings,
    hard: maybe(Type.Boolean({ description: 'Default false.' })),
    thresholds: maybe(Thresholds),
  },
  {
    $id: 'BudgetSettings',
    additionalProperties: false,
    description: `Replaces the budget: omitted members get their defaults. Thresholds are by default ${defaultThresholds.join(', ')}.`,
  },
);

const at = Type.Object({ workspace: WorkspaceReference });
const one = Type.Object({ workspace: WorkspaceReference, id: BudgetId });
const read = { apiKey: 'workspace', login: 'any' } as const;
const change = { login: 'admin', loginOnly: true } as const;

export const listBudgets = endpoint({
  id: 'listBudgets',
  method: 'GET',
  path: '/v1/workspaces/{workspace}/budgets',
  summary: 'List budgets.',
  description: 'All on one page, by name, with what is spent. For the members of the workspace.',
  tag: 'Budgets',
  access: read,
  params: at,
  result: listOf(Budget),
});

export const getBudget = endpoint({
  id: 'getBudget',
  method: 'GET',
  path: '/v1/workspaces/{workspace}/budgets/{id}',
  summary: 'Get a budget.',
  tag: 'Budgets',
  access: read,
  params: one,
  result: Budget,
});

export const putBudget = endpoint({
  id: 'putBudget',
  method: 'PUT',
  path: '/v1/workspaces/{workspace}/budgets/{id}',
  summary: 'Set a budget.',
  description: `Adds or replaces a budget, for owners and admins of the workspace. It counts all charges of its period, also those before it was set, and applies to the next call. A hard budget is never exceeded: what running calls can cost at most is reserved, and a call that could cost more than the rest gets 403 \`limit_reached\` with the \`param\` \`budgets.{id}\`. That of a model or provider only keeps calls from it: another route of the call is taken, and it is rejected if none is left. A workspace has at most ${budgetsMax} budgets.`,
  tag: 'Budgets',
  access: change,
  params: one,
  body: BudgetSettings,
  result: Budget,
});

export const deleteBudget = endpoint({
  id: 'deleteBudget',
  method: 'DELETE',
  path: '/v1/workspaces/{workspace}/budgets/{id}',
  summary: 'Delete a budget.',
  tag: 'Budgets',
  access: change,
  params: one,
  result: deleted('budget'),
});

export type Budget = Static<typeof Budget>;
export type BudgetSettings = Static<typeof BudgetSettings>;
