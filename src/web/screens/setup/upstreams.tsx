import type { ConfigurationView } from '../../../shared/contract/configuration.ts';
import { isObject } from '../../../shared/json/json-object.ts';
import type { Query } from '../../data/query.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { DialogButton } from '../../parts/dialog-button.tsx';
import { type Field, linesOf } from '../../parts/field-types.ts';
import type { FormValues } from '../../parts/form.tsx';
import { Panel } from '../../parts/panel.tsx';
import { actions } from '../../parts/table-head.tsx';
import { ChangeDialog, type Request } from './change-dialog.tsx';
import { settingOf } from './setting-value.ts';

interface Upstream {
  name: string;
  base_url: string;
  wire: string;
  models: string[];
  key_env: string | undefined;
}

type UpstreamField = 'name' | 'base_url' | 'key' | 'wire' | 'models';

/** Other model servers: what the file says of them, and their keys in the vault. */
export function Upstreams({ query }: { query: Query<ConfigurationView> }) {
  const sealed = query.data?.sealed_keys ?? [];
  const upstreams = upstreamsIn(query.data);
  return (
    <Panel
      title="Upstreams"
      queries={[query]}
      action={{ label: 'Add an upstream', isMain: true, dialog: (close) => <EditUpstream onClose={close} /> }}
    >
      {upstreams.length === 0 ? (
        <p class="quiet">None. Any server with the API of OpenAI or Anthropic can be one.</p>
      ) : (
        <DataTable
          name="upstreams"
          columns={[
            { name: 'Upstream', value: ({ name }) => name },
            { name: 'Address', value: ({ base_url: url }) => url },
            { name: 'Format', value: ({ wire }) => wire },
            { name: 'Models', value: ({ models }) => models.join(', ') },
            {
              name: 'Key',
              value: ({ name, key_env: variable }) => (sealed.includes(name) ? 'in the vault' : variable),
            },
            actions,
          ]}
          rows={upstreams}
        >
          {(upstream) => (
            <UpstreamRow key={upstream.name} upstream={upstream} isSealed={sealed.includes(upstream.name)} />
          )}
        </DataTable>
      )}
    </Panel>
  );
}

function UpstreamRow({ upstream, isSealed }: { upstream: Upstream; isSealed: boolean }) {
  const { name, base_url: url, wire, models, key_env: variable } = upstream;
  return (
    <tr>
      <th scope="row" class="is-title">
        {name}
      </th>
      <td class="wrap">
        <code>{url}</code>
      </td>
      <td class="quiet">{wire}</td>
      <td class="wrap">{models.includes('*') ? <span class="quiet">any</span> : models.join(', ')}</td>
      <td class="wrap">{isSealed ? 'in the vault' : <span class="quiet">{variable ?? 'none'}</span>}</td>
      <td>
        <span class="row-actions">
          <DialogButton
            label="Change"
            title={`Change the upstream ${name}`}
            dialog={(close) => <EditUpstream upstream={upstream} onClose={close} />}
          />
          <DialogButton
            label="Remove"
            title={`Remove the upstream ${name}`}
            dialog={(close) => (
              <ChangeDialog
                title={`Remove the upstream ${name}?`}
                toRequest={() => ({ changes: [{ setting: `upstreams.${name}`, value: null }] })}
                done={() => `The upstream ${name} was removed.`}
                onClose={close}
              />
            )}
          />
        </span>
      </td>
    </tr>
  );
}

function EditUpstream({ upstream, onClose }: { upstream?: Upstream; onClose: () => void }) {
  const fields = (values: Readonly<Partial<FormValues<UpstreamField>>>): Field<UpstreamField>[] => {
    const name = values.name ?? upstream?.name ?? '';
    return [
      {
        name: 'name',
        label: 'Name',
        placeholder: 'acme',
        value: upstream?.name ?? '',
        isFixed: upstream !== undefined,
        isRequired: true,
        maxLength: 40,
        hint: `Lowercase letters, digits, _ and -. Its models are ${name || 'acme'}/…`,
      },
      {
        name: 'base_url',
        label: 'Address',
        placeholder: 'https://llm.acme.example/v1',
        value: upstream?.base_url ?? '',
        isRequired: true,
        hint: 'What comes before /chat/completions, /responses or /messages.',
      },
      {
        name: 'key',
        label: 'Key',
        kind: 'secret',
        param: `keys.${name}`,
        hint: upstream
          ? 'Only to replace it, or with another address. It is sealed in the vault and never shown again.'
          : 'If it needs one. It is sealed in the vault and never shown again.',
      },
      {
        name: 'wire',
        label: 'Format',
        kind: 'choice',
        value: upstream?.wire ?? 'chat',
        options: [
          { value: 'chat', title: 'Chat completions (most servers)' },
          { value: 'responses', title: 'Responses' },
          { value: 'messages', title: 'Messages (Anthropic)' },
        ],
      },
      {
        name: 'models',
        label: 'Models',
        kind: 'lines',
        value: upstream?.models.join('\n') ?? '*',
        hint: 'A name per line; * forwards any name.',
      },
    ];
  };
  return (
    <ChangeDialog
      title={upstream ? `The upstream ${upstream.name}` : 'Add an upstream'}
      fields={fields}
      toRequest={(values) => (upstream ? changesTo(upstream, values) : newUpstream(values))}
      done={({ name }) => `The upstream ${name} was ${upstream ? 'changed' : 'added'}.`}
      onClose={onClose}
    />
  );
}

function newUpstream(values: FormValues<UpstreamField>): Request {
  const { name, base_url, models, wire } = entryIn(values);
  const value = { base_url, models, ...(wire !== 'chat' && { wire }) };
  return { changes: [{ setting: `upstreams.${name}`, value }], ...keyIn(values) };
}

/** Members that are not in the form stay as they are. */
function changesTo(upstream: Upstream, values: FormValues<UpstreamField>): Request {
  const entry = entryIn(values);
  const names = ['base_url', 'wire', 'models'] as const;
  const changed = names.filter((name) => JSON.stringify(entry[name]) !== JSON.stringify(upstream[name]));
  return {
    changes: changed.map((name) => ({ setting: `upstreams.${upstream.name}.${name}`, value: entry[name] })),
    ...keyIn(values),
  };
}

function entryIn({ name, base_url: url, wire, models }: FormValues<UpstreamField>) {
  const names = linesOf(models);
  return { name: name.trim(), base_url: url.trim(), wire, models: names.length > 0 ? names : ['*'] };
}

function keyIn({ name, key }: FormValues<UpstreamField>): Pick<Request, 'keys'> {
  return key.trim() === '' ? {} : { keys: { [name.trim()]: key.trim() } };
}

function upstreamsIn(configuration: ConfigurationView | undefined): Upstream[] {
  const value = settingOf(configuration, 'upstreams');
  return (Array.isArray(value) ? value : []).filter(isObject).map((one) => ({
    name: String(one.name),
    base_url: String(one.base_url),
    wire: String(one.wire ?? 'chat'),
    models: Array.isArray(one.models) ? one.models.map(String) : [],
    key_env: typeof one.key_env === 'string' ? one.key_env : undefined,
  }));
}
