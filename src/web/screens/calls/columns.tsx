import type { TraceView } from '../../../shared/contract/traces.ts';
import { duration } from '../../../view/durations.ts';
import { briefCount, tokenRate } from '../../../view/numbers.ts';
import { callColumns } from '../../data/preferences.ts';
import { Amount } from '../../parts/amount.tsx';
import { Menu } from '../../parts/menu.tsx';
import { Status } from '../../parts/status.tsx';
import type { TableColumn } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';

export interface ColumnContext {
  /** The address of a call of the list. */
  hrefOf(id: string): string;
  nameOfKey(id: string | null): string;
}

type Column = TableColumn<TraceView>;

const columns: readonly ((context: ColumnContext) => Column)[] = [
  () => ({ name: 'Time', kind: 'time', show: ({ completed_at: at }) => <Time at={at} /> }),
  () => ({
    name: 'Status',
    kind: 'state',
    show: ({ status, error_code: code }) => <Status status={status} code={code} />,
  }),
  ({ hrefOf, nameOfKey }) => ({
    name: 'Model',
    kind: 'wide',
    show: ({ request_id: id, model, provider, key, client }) => (
      <>
        <a href={hrefOf(id)}>{model ?? 'no model'}</a>
        <span class="second-line">{[nameOfKey(key), client ?? provider].filter(Boolean).join(' · ')}</span>
      </>
    ),
  }),
  () => ({ name: 'Provider', kind: 'name', show: ({ provider }) => provider ?? '' }),
  ({ nameOfKey }) => ({ name: 'Key', kind: 'name', show: ({ key }) => nameOfKey(key) }),
  () => ({ name: 'Client', kind: 'name', show: ({ client }) => client ?? '' }),
  () => ({ name: 'User', kind: 'name', show: ({ user }) => user ?? '' }),
  () => ({ name: 'Conversation', kind: 'name', show: ({ conversation }) => conversation ?? '' }),
  () => ({
    name: 'Tags',
    kind: 'name',
    show: ({ tags }) =>
      Object.entries(tags)
        .map((tag) => tag.join('='))
        .join(' '),
  }),
  () => ({ name: 'Endpoint', kind: 'name', show: ({ endpoint }) => endpoint }),
  () => ({
    name: 'In',
    kind: 'number',
    show: ({ tokens, status }) => (status === 'rejected' ? '' : briefCount(tokens.input)),
  }),
  () => ({
    name: 'Cached',
    kind: 'number',
    show: ({ tokens, status }) => (status === 'rejected' ? '' : briefCount(tokens.cached_input)),
  }),
  () => ({
    name: 'Out',
    kind: 'number',
    show: ({ tokens, status }) => (status === 'rejected' ? '' : briefCount(tokens.output)),
  }),
  () => ({
    name: 'Cost',
    kind: 'number cost',
    show: ({ cost, status }) => status !== 'rejected' && <Amount usd={cost?.total_usd} />,
  }),
  () => ({
    name: 'First',
    kind: 'number',
    show: ({ timings }) => duration(timings.first_token_ms),
  }),
  () => ({
    name: 'Tok/s',
    kind: 'number',
    show: (trace) => {
      const rate = tokenRate(trace);
      return rate === undefined ? '' : String(Math.round(rate));
    },
  }),
  () => ({ name: 'Total', kind: 'number total', show: ({ timings }) => duration(timings.total_ms) }),
];

const context: ColumnContext = { hrefOf: () => '', nameOfKey: () => '' };
const names = columns.map((column) => column(context).name);
const initial = ['Time', 'Status', 'Model', 'Key', 'Client', 'In', 'Out', 'Cost', 'First', 'Total'];

/** The names of the chosen columns; Model leads to the call, and so is always there. */
function chosen(): readonly string[] {
  const kept = callColumns.value.split(',').filter((name) => names.includes(name));
  return kept.length > 0 ? [...kept, 'Model'] : initial;
}

export function columnsFor(of: ColumnContext): Column[] {
  const shown = chosen();
  return columns.map((column) => column(of)).filter(({ name }) => shown.includes(name));
}

export function ColumnMenu() {
  const shown = chosen();
  const toggle = (name: string) => {
    const next = names.filter((one) => shown.includes(one) !== (one === name));
    callColumns.value = next.join() === initial.join() ? '' : next.join();
  };
  return (
    <Menu label="Columns">
      {names
        .filter((name) => name !== 'Model')
        .map((name) => (
          <label key={name} class="check">
            <input type="checkbox" checked={shown.includes(name)} onChange={() => toggle(name)} /> {name}
          </label>
        ))}
    </Menu>
  );
}
