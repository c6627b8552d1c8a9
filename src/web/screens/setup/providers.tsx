import type { ConfigurationView } from '../../../shared/contract/configuration.ts';
import { getProvider } from '../../../shared/endpoints.ts';
import { type KnownProvider, knownProviders, providerFacts } from '../../../shared/known-providers.ts';
import { type Query, useQuery } from '../../data/query.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { DialogButton } from '../../parts/dialog-button.tsx';
import { Panel } from '../../parts/panel.tsx';
import { actions } from '../../parts/table-head.tsx';
import { ChangeDialog } from './change-dialog.tsx';
import { settingOf } from './setting-value.ts';

/** The host's accounts at the providers that are known by name. */
export function Providers({ query }: { query: Query<ConfigurationView> }) {
  return (
    <Panel title="Providers" queries={[query]}>
      <DataTable
        name="accounts"
        columns={[
          { name: 'Provider', value: (name) => name },
          { name: 'State' },
          { name: 'Key' },
          { name: 'Address' },
          actions,
        ]}
        rows={knownProviders}
      >
        {(name) => <ProviderRow key={name} name={name} configuration={query.data} />}
      </DataTable>
    </Panel>
  );
}

interface RowProps {
  name: KnownProvider;
  configuration: ConfigurationView | undefined;
}

function ProviderRow({ name, configuration }: RowProps) {
  const { data } = useQuery(getProvider, { params: { provider: name } });
  const isSealed = configuration?.sealed_keys.includes(name) ?? false;
  const own = settingOf(configuration, `providers.${name}.base_url`);
  const address = typeof own === 'string' ? own : undefined;
  const isUpstream = data !== undefined && data.kind !== name;
  return (
    <tr>
      <th scope="row" class="is-title">
        {name}
        {isUpstream && <span class="quiet sub">an upstream of this name takes its place</span>}
      </th>
      <td class={data?.state === 'available' ? 'ok-text' : 'quiet'}>{data?.state ?? '…'}</td>
      <td class="wrap">
        {isSealed ? (
          'in the vault'
        ) : (
          <span class="quiet">
            {data?.key.set ? data.key.variable : `none (${data?.key.variable ?? '…'} is not set)`}
          </span>
        )}
      </td>
      <td class="wrap">{data?.base_url && <code>{data.base_url}</code>}</td>
      <td>
        {!isUpstream && (
          <span class="row-actions">
            <DialogButton
              label={isSealed ? 'Replace key' : 'Set key'}
              title={`${isSealed ? 'Replace key' : 'Set key'} of ${name}`}
              dialog={(close) => <SetKey name={name} onClose={close} />}
            />
            {isSealed && (
              <DialogButton
                label="Delete key"
                title={`Delete key of ${name}`}
                dialog={(close) => (
                  <ChangeDialog
                    title={`Delete the key of ${name}?`}
                    toRequest={() => ({ changes: [], keys: { [name]: null } })}
                    done={() => `The key of ${name} was deleted.`}
                    onClose={close}
                  />
                )}
              />
            )}
            <DialogButton
              label="Address"
              title={`Address of ${name}`}
              dialog={(close) => <SetAddress name={name} address={address} onClose={close} />}
            />
          </span>
        )}
      </td>
    </tr>
  );
}

function SetKey({ name, onClose }: { name: KnownProvider; onClose: () => void }) {
  return (
    <ChangeDialog<'key'>
      title={`The host’s key for ${name}`}
      fields={[
        {
          name: 'key',
          label: 'Key',
          kind: 'secret',
          isRequired: true,
          param: `keys.${name}`,
          placeholder: `${providerFacts[name].keyPrefixes[0]}…`,
          hint: 'For calls of all workspaces. It is sealed in the vault and never shown again.',
        },
      ]}
      toRequest={({ key }) => ({ changes: [], keys: { [name]: key.trim() } })}
      done={() => `The key of ${name} was saved.`}
      onClose={onClose}
    />
  );
}

interface AddressProps {
  name: KnownProvider;
  address: string | undefined;
  onClose: () => void;
}

function SetAddress({ name, address, onClose }: AddressProps) {
  const setting = `providers.${name}.base_url`;
  return (
    <ChangeDialog<'address' | 'key'>
      title={`The address of ${name}`}
      fields={[
        {
          name: 'address',
          label: 'Address',
          value: address ?? '',
          placeholder: 'https://proxy.example/v1',
          hint: 'Of a proxy, for example; empty for that of the provider.',
        },
        {
          name: 'key',
          label: 'Key',
          kind: 'secret',
          param: `keys.${name}`,
          hint: 'A key is not sent to another address before it is typed again.',
        },
      ]}
      toRequest={({ address: typed, key }) => ({
        changes: [{ setting, value: typed.trim() || null }],
        ...(key.trim() !== '' && { keys: { [name]: key.trim() } }),
      })}
      done={() => `The address of ${name} was changed.`}
      onClose={onClose}
    />
  );
}
