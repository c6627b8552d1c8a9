import { expect, test } from 'vitest';
import * as addresses from '../../src/cli/addresses.ts';
import * as siteAddresses from '../../src/cli/site-addresses.ts';
import { endpoints } from '../support/endpoints.ts';

const contracts = new Map(endpoints.map((endpoint) => [endpoint.id, endpoint]));

test.each(Object.entries({ ...addresses, ...siteAddresses }))(
  '%s is where its contract says',
  (name, address) => {
    expect(contracts.get(name)).toMatchObject({ ...address });
  },
);
