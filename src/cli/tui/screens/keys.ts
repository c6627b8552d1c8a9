import { Command, CommanderError, Option } from '@commander-js/extra-typings';
import { defaultScopes, type ScopeName, scopeNames } from '../../../shared/contract/endpoint.ts';
import type { Limits, LimitsChange } from '../../../shared/contract/key-limits.ts';
import type { Key, KeyWithUse } from '../../../shared/contract/keys.ts';
import { issueKey, listKeys, revokeKey, setLimits, showKey } from '../../../shared/endpoints.ts';
import { fieldsOf, pick, textsOf } from '../../../view/field.ts';
import { isInUse, listedName, namesOf } from '../../../view/key-names.ts';
import { keyFields } from '../../../view/keys.ts';
import { limitsText } from '../../../view/limits.ts';
import { capText } from '../../../view/money.ts';
import { keyRecord, requestsShare, spendShare } from '../../commands/keys/keys.ts';
import { limitFlags, limitsChange } from '../../commands/keys/limits.ts';
import { usesOf } from '../../commands/keys/list-keys.ts';
import { collectPages } from '../../hosts/pages.ts';
import { loginsOf } from '../../names/key-names.ts';
import { escapeControls } from '../../output/escape-controls.ts';
import { wrapLine } from '../../output/wrap-line.ts';
import type { Services } from '../services/services.ts';
import { untrustedLines } from '../text/cells.ts';
import { gauge } from '../text/charts.ts';
import { FieldFault } from '../text/form-field.ts';
import { fieldColumn, type ListColumn } from '../text/list-table.ts';
import { limitFields, limitsIn } from './key-forms.ts';
import { recordLines, recordPage } from './pages.ts';
import type { Page, Question, Screen } from './screen.ts';

/** A key; with its use if it has limits that fill up. */
interface KeyRow {
  key: Key;
  /** Its name, with part of its id if other keys have the same name. */
  name: string;
  withUse: KeyWithUse | undefined;
}

const workspace = 'me';
const keysMax = 500;

/** The API keys of the workspace: issue, limit, revoke. */
export const keysScreen: Screen<KeyRow> = {
  id: 'keys',
  title: 'Keys',
  letter: 'k',
  aliases: ['key', 'api-keys'],
  empty: ['No keys yet. Press c to issue one.'],
  footer: ['open', 'compose', 'edit', 'remove', 'mark'],
  refreshEveryMs: 10_000,
  isAffectedBy: ({ type }) => type.startsWith('key.'),
  columns: () => columns,
  load,
  idOf: ({ key }) => key.id,
  copyText: ({ key }) => key.id,
  commandText: ({ key }) => `gateway keys show ${key.id}`,
  json: ({ key, withUse }) => withUse ?? key,
  preview: ({ key, withUse }, options) =>
    withUse
      ? recordLines(withUse, keyRecord(options.now), options)
      : Object.values(textsOf(pick(keyFields, previewed), key, options)).flatMap((text) =>
          untrustedLines(text, options.width),
        ),
  async open({ key, name }, { client, now }) {
    const shown = await client.call(showKey, { params: { workspace, key: key.id } });
    return recordPage(name || key.id, shown, { columns: keyRecord(now()), copy: key.id });
  },
  remove: { question: revokeQuestion, verb: 'Revoke', run: revoke },
  compose: {
    label: 'issue a key',
    fields: () => [
      { name: 'name', label: 'name', kind: 'text', placeholder: 'what it is for, such as ci' },
      ...limitFields(),
      { name: 'scopes', label: 'scopes', kind: 'text', placeholder: defaultScopes.join(' ') },
    ],
    async submit({ name, scopes, ...values }, { client, now }) {
      const limits = limitsIn(values, now);
      const body = {
        ...(name && { name }),
        ...(scopes && { scopes: scopesIn(scopes) }),
        ...(Object.values(limits).some((limit) => limit !== null) && { limits }),
      };
      return issue(body, client);
    },
    runLine: async (line, { client, now }) => issue(await parseIssue(line, now()), client),
  },
  edit: {
    label: 'limits',
    labelFor: ({ key, name }) => `limits of ${name || key.id}`,
    needsRow: true,
    fields: (row) => limitFields(row?.key.limits),
    async submit(values, services, row) {
      if (!row) return 'No key is selected.';
      const wanted = limitsIn(values, services.now);
      const body = limitsLeft(row.key.limits, wanted);
      if (Object.keys(body).length === 0) return 'The limits are as they were.';
      return Object.values(wanted).every((limit) => limit === null)
        ? clearQuestion(row, services)
        : changeLimits(row, body, services);
    },
  },
};

/** Of a key without limits that fill up. */
const previewed = ['id', 'name', 'status', 'secret', 'scopes', 'limits'];

const listed = (...names: string[]) =>
  fieldsOf(pick(keyFields, names), ({ key }: KeyRow) => key).map((field) =>
    fieldColumn(field, ({ now }) => ({ now })),
  );

const columns: ListColumn<KeyRow>[] = [
  ...listed('name').map((column) => ({ ...column, grows: true as const, text: ({ name }: KeyRow) => name })),
  ...listed('status'),
  {
    title: 'used',
    width: 16,
    value: (row) => fullestLimit(row)?.share ?? null,
    text: usedText,
    style: usedStyle,
    isChart: true,
  },
  { title: 'of limit', width: 14, text: (row) => fullestLimit(row)?.name ?? 'none' },
  ...listed('limits').map((column) => ({ ...column, grows: true as const })),
  ...listed('secret', 'last_used_at', 'created_at'),
];

/** The limit that is closest to its end. */
function fullestLimit({ withUse }: KeyRow): { name: string; share: number } | undefined {
  if (!withUse) return undefined;
  const { spend_cap: cap, requests_per_minute: rpm } = withUse.limits;
  const limits = [
    cap && {
      name: capText(cap),
      share: spendShare(withUse, cap.period) ?? 0,
    },
    rpm && { name: `${rpm} req/min`, share: requestsShare(withUse) ?? 0 },
  ];
  return limits.filter((limit) => !!limit).sort((one, other) => other.share - one.share)[0];
}

function usedText(row: KeyRow, options: { width: number; isPlain: boolean }): string {
  const limit = fullestLimit(row);
  return limit ? gauge(limit.share, options.width, options) : '–';
}

function usedStyle(row: KeyRow): 'red' | 'yellow' | undefined {
  const share = fullestLimit(row)?.share ?? 0;
  if (share < 0.8) return undefined;
  return share >= 1 ? 'red' : 'yellow';
}

async function load({ client, keyNames }: Services): Promise<KeyRow[]> {
  const logins = await loginsOf(client);
  const keys = await collectPages(keysMax, (query) =>
    client.call(listKeys, { params: { workspace }, query }),
  );
  for (const [id, name] of namesOf(keys, logins)) keyNames.set(id, name);
  const limited = keys.filter(({ limits }) => limits.spend_cap || limits.requests_per_minute);
  const uses = await usesOf(client, workspace, limited);
  // Active keys first.
  return keys
    .map((key) => ({ key, name: listedName(key, keys), withUse: uses.get(key.id) }))
    .sort((one, other) => Number(isInUse(other.key)) - Number(isInUse(one.key)));
}

type NewKey = Awaited<ReturnType<typeof parseIssue>>;

/** Asks before a key without limits is issued: what was typed may have been meant for something else. */
async function issue(body: NewKey, client: Services['client']): Promise<Page | Question> {
  if (body.limits) return issueAndShow(body, client);
  const named = body.name === undefined ? 'a key' : `the key ${body.name}`;
  return {
    page: {
      title: 'issue a key without limits',
      lines: ({ width }) =>
        [
          `This issues ${named} without a spending limit, an expiry or other limits.`,
          'Esc goes back.',
        ].flatMap((text) => wrapLine(escapeControls(text), width)),
    },
    question: `Issue ${named} without limits?`,
    verb: 'Issue',
    progress: 'Issuing…',
    run: () => issueAndShow(body, client),
  };
}

/** The secret is shown once, on a page of its own. */
async function issueAndShow(body: NewKey, client: Services['client']): Promise<Page> {
  const { key, secret } = await client.call(issueKey, { params: { workspace }, body });
  return {
    title: `issued ${key.name || key.id}`,
    lines: ({ paint }) => [
      paint('bold', secret),
      '',
      'Save the secret now (y copies it); it is not shown again.',
      '',
      `id      ${key.id}`,
      `scopes  ${key.scopes.join(' ')}`,
      `limits  ${limitsText(key.limits) || 'none'}`,
    ],
    copy: secret,
  };
}

function revokeQuestion(rows: KeyRow[]): string {
  const [first] = rows;
  const effect = 'Calls with revoked keys, and with keys they issued, fail immediately.';
  if (rows.length === 1 && first) return `Revoke ${first.name} (${first.key.id})? ${effect}`;
  return `Revoke ${rows.length} keys? ${effect}`;
}

/** Revoking a key also revokes the keys that it issued; those are skipped. */
async function revoke(rows: readonly KeyRow[], { client }: Services): Promise<string> {
  const revoked = new Set<string>();
  for (const { key } of rows) {
    if (revoked.has(key.id)) continue;
    const result = await client.call(revokeKey, { params: { workspace, key: key.id } });
    for (const id of [key.id, ...(result.also_revoked ?? [])]) revoked.add(id);
  }
  return revoked.size === 1 ? `Revoked ${[...revoked][0]}.` : `Revoked ${revoked.size} keys.`;
}

/** The flags of the lines below, for errors that name them. */
export const keyFlags = [
  '--name',
  '--scope',
  '--spend-cap',
  '--max-price',
  '--model',
  '--rpm',
  '--concurrency',
  '--queue',
  '--expires',
] as const;

/** Parses a name and the flags of `gateway keys issue`: `ci --spend-cap 5/day --rpm 60`. */
async function parseIssue(
  line: string,
  now: number,
): Promise<{ name?: string; scopes?: ScopeName[]; limits?: LimitsChange }> {
  const command = limitFlags(new Command('key').argument('[name...]'), { now: () => now })
    .option('--name <name>', 'its name')
    .addOption(new Option('--scope <scope...>', 'its permissions').choices(scopeNames));
  const { words, flags } = await parseLine(command, line);
  const name = flags.name ?? words.join(' ');
  const limits = limitsChange(flags);
  return {
    ...(name !== '' && { name }),
    ...(flags.scope && { scopes: flags.scope }),
    ...(Object.keys(limits).length > 0 && { limits }),
  };
}

/** What makes the present limits those of the line: limits that the line leaves out are removed. */
function limitsLeft(present: Limits, wanted: LimitsChange): LimitsChange {
  const names = Object.keys(present) as (keyof Limits)[];
  const changed = names.filter(
    (name) => JSON.stringify(wanted[name] ?? null) !== JSON.stringify(present[name]),
  );
  return Object.fromEntries(changed.map((name) => [name, wanted[name] ?? null]));
}

async function changeLimits(
  { key, name }: KeyRow,
  body: LimitsChange,
  { client }: Services,
): Promise<string> {
  const limits = await client.call(setLimits, { params: { workspace, key: key.id }, body });
  return `${name || key.id}: ${limitsText(limits) || 'no limits'}.`;
}

function clearQuestion(row: KeyRow, services: Services): Question {
  const { limits } = row.key;
  const body = Object.fromEntries(Object.keys(limits).map((name) => [name, null]));
  return {
    page: {
      title: 'remove all limits',
      lines: ({ width }) => wrapLine(`The key has these limits: ${limitsText(limits)}.`, width),
    },
    question: `Remove all limits of ${row.name || row.key.id}?`,
    verb: 'Remove',
    progress: 'Removing…',
    run: () => changeLimits(row, body, services),
  };
}

async function parseLine<A extends unknown[], O extends Record<string, unknown>>(
  command: Command<A, O>,
  line: string,
): Promise<{ words: string[]; flags: O }> {
  command.exitOverride().configureOutput({ writeErr() {}, writeOut() {} });
  try {
    await command.parseAsync(shellWords(line), { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) throw new Error(error.message.replace(/^error: /, ''));
    throw error;
  }
  return { words: command.args, flags: command.opts() as O };
}

function scopesIn(text: string): ScopeName[] {
  return text
    .split(/[\s,]+/)
    .filter((word) => word !== '')
    .map((word) => {
      const scope = scopeNames.find((name) => name === word);
      if (scope) return scope;
      throw new FieldFault('scopes', `${word} is no scope. The scopes are: ${scopeNames.join(' ')}.`);
    });
}

/** Splits a line into words; quotes work as in a shell. */
function shellWords(line: string): string[] {
  const found = line.matchAll(/(?:"([^"]*)"|'([^']*)'|(\S+))/g);
  return [...found].map(([, double, single, bare]) => double ?? single ?? bare ?? '');
}
