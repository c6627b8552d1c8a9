import { Ajv, type AnySchema } from 'ajv';
import { describe, expect, test } from 'vitest';
import { formats } from '../../../src/daemon/http/validation/input-check.ts';
import { standalone } from '../../../src/shared/contract/schema.ts';
import { endpoints } from '../../support/endpoints.ts';

/** Bodies that look right and are refused, which a schema can state, by endpoint. */
const refused: Record<string, object[]> = {
  addUser: ['me', 'ME', 'usr_1', 'Usr_x', '42'].map((handle) => ({ handle })),
  updateProfile: ['me', 'usr_1', '007'].map((handle) => ({ handle })),
  createWorkspace: [{ name: 'Team', slug: 'me' }],
  updateWorkspace: [{ slug: 'me' }],
  createAutopilot: ['agent:a', 'Service:b'].map((handle) => ({ displayName: 'A', handle })),
  updateAutopilot: [{ handle: 'AGENT:a' }],
  grantCredit: ['0', '0.0', '000.000', '1000000.01', '1000001', '9999999'].map((usd) => ({
    workspace: 'me',
    usd,
  })),
  setLimits: [
    { spend_cap: { usd: '9000000.01', period: 'day' } },
    { spend_cap: { usd: '9999999', period: 'day' } },
    { max_price: { input: '9900000' } },
  ],
  issueKey: [{ limits: { max_price: { output: '9000001' } } }],
  createResponse: [{ model: 'm', input: 'i', service: { max_price: { input: '9999999' } } }],
  createEmbedding: ['', [], ['a', ''], [[]], [[1], []]].map((input) => ({ model: 'm', input })),
  postShout: [{ body: '' }, { body: ' \n\t\u2003' }],
  sendWhisper: [{ recipientHandle: 'ann', body: '  ' }],
  putProviderKey: [
    { key: 'sk-short' },
    { key: `sk-${'x'.repeat(600)}` },
    { key: 'sk-with a space 0123456789ab' },
  ],
  createPaywall: [
    { token: { constraints: { 'tier,x': 'a' } } },
    { token: { constraints: { Tier: { a: 0 } } } },
    { upstream: { url: 'http://a', headers: { 'a b': 'c' } } },
    { upstream: { url: 'http://a', headers: { 'a\nb': 0 } } },
  ].map((terms) => ({ priceSats: 1, upstream: { url: 'http://a' }, ...terms })),
  createSystemOne: [{ '': { type: 'noul', instructions: 'Is it?' } }].map((questions) => ({
    model: 'm',
    state: 's',
    questions,
  })),
  unlockVault: [{ master_key: 'x' }, { passphrase: 'long enough', master_key: 'a'.repeat(43) }],
};

/** Their neighbours, which are accepted. */
const accepted: Record<string, object[]> = {
  addUser: ['mea', 'ann-lee', '4two', 'us'].map((handle) => ({ handle })),
  createWorkspace: [{ name: 'Team', slug: 'me-too' }],
  createAutopilot: [{ displayName: 'A', handle: 'agents:a' }],
  grantCredit: ['0.000000001', '1', '1000000', '1000000.00', '999999.999999999'].map((usd) => ({
    workspace: 'me',
    usd,
  })),
  setLimits: [{ spend_cap: { usd: '9000000', period: 'day' } }, { max_price: { input: '8999999.99' } }],
  createEmbedding: ['a', ['a'], [1], [[1]]].map((input) => ({ model: 'm', input })),
  postShout: [{ body: ' a ' }],
  putProviderKey: [{ key: `sk-${'x'.repeat(30)}` }],
  createPaywall: [
    {
      priceSats: 1,
      upstream: { url: 'http://a', headers: { 'x-a': 'b' } },
      token: { constraints: { tier: 'silver' } },
    },
  ],
  unlockVault: [
    {},
    { passphrase: 'long enough' },
    { master_key: 'a'.repeat(43) },
    { master_key: 'A1'.repeat(32) },
  ],
};

const ajv = new Ajv({ strict: false, formats });
const validate = (id: string) => {
  const endpoint = endpoints.find((each) => each.id === id);
  if (!endpoint?.body) throw new Error(`there is no body of ${id}`);
  return ajv.compile(standalone(endpoint.body) as AnySchema);
};

describe.each(Object.entries(refused))('the schema of %s', (id, bodies) => {
  test.each(bodies.map((body) => [JSON.stringify(body), body]))('refuses %s', (_text, body) => {
    expect(validate(id)(body)).toBe(false);
  });
});

describe.each(Object.entries(accepted))('the schema of %s', (id, bodies) => {
  test.each(bodies.map((body) => [JSON.stringify(body), body]))('accepts %s', (_text, body) => {
    expect(validate(id)(body)).toBe(true);
  });
});
