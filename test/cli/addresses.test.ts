import { expect, test } from 'vitest';
import * as addresses from '../../src/cli/addresses.ts';
import * as daemon from '../../src/shared/contract/daemon.ts';
import * as events from '../../src/shared/contract/events.ts';
import * as keys from '../../src/shared/contract/keys.ts';
import * as models from '../../src/shared/contract/models.ts';
import * as providerKeys from '../../src/shared/contract/provider-keys.ts';
import * as rates from '../../src/shared/contract/rates.ts';
import * as responses from '../../src/shared/contract/responses.ts';
import * as storedResponses from '../../src/shared/contract/stored-responses.ts';
import * as usage from '../../src/shared/contract/usage.ts';
import * as vault from '../../src/shared/contract/vault.ts';

const contracts: Record<string, unknown> = {
  ...daemon,
  ...events,
  ...keys,
  ...models,
  ...providerKeys,
  ...rates,
  ...responses,
  ...storedResponses,
  ...usage,
  ...vault,
};

test.each(Object.entries(addresses))('%s is where its contract says', (name, address) => {
  expect(contracts[name]).toMatchObject({ ...address });
});
