import type { Endpoint } from '../../src/shared/contract/endpoint.ts';
import type { SiteIds, ThreadIds } from './example-calls.ts';
import { givePlayMoney } from './play-money.ts';
import type { RunningDaemon } from './start-daemon.ts';
import { askDaemon, sharedPerson } from './users.ts';

type Daemon = Pick<RunningDaemon, 'url' | 'login'>;

/** Creates an access token for the user of this login. */
export async function newToken(
  daemon: Pick<Daemon, 'url'>,
  login: string,
  abilities: readonly string[] = ['*'],
): Promise<{ id: string; secret: string }> {
  const data = await post(daemon, '/api/tokens', { as: login, json: { name: 'test', abilities } });
  return { id: data.id, secret: data.token };
}

/** Creates what an example call to a site endpoint names, for the user of this login. */
export async function createSiteExamples(
  daemon: Daemon,
  { id, path }: Pick<Endpoint, 'id' | 'path'>,
  login: string,
): Promise<SiteIds & ThreadIds> {
  if (path.includes('{tokenId}')) return { token: (await newToken(daemon, login)).id };
  if (id === 'sendWhisper') return { peer: (await sharedPerson(daemon, 'peer')).handle };
  if (path.startsWith('/api/whispers/{id}')) {
    const { body } = await askDaemon(daemon, 'GET', '/api/me', { as: login });
    const json = { body: 'Hello.', recipientId: body.data.user.id };
    const { id: whisper } = await post(daemon, '/api/whispers', {
      as: (await sharedPerson(daemon, 'peer')).login,
      json,
    });
    return { whisper: String(whisper) };
  }
  if (path.startsWith('/api/shouts/{id}')) {
    // Any user may read a shout, and each user may post only so many.
    const as = id === 'getShout' ? (await sharedPerson(daemon, 'peer')).login : login;
    const { id: shout } = await post(daemon, '/api/shouts', { as, json: { body: 'Hear me.' } });
    return { shout: String(shout) };
  }
  if (path.startsWith('/v1/credit/')) {
    await post(daemon, '/api/agents/me/wallet', { as: daemon.login, json: {} });
    if (!path.includes('{id}')) return {};
    const json = { sats: 10 };
    const bought = await askDaemon(daemon, 'POST', '/v1/credit/purchases', { as: daemon.login, json });
    return { purchase: bought.body.id };
  }
  if (/^\/api\/(payments|agents\/me)|\/payments\/\{payment\}/.test(path))
    return await createWalletExamples(daemon, { id, path }, login);
  if (path.startsWith('/api/l402/')) return await createPaywallExamples(daemon, path, login);
  if (path.includes('{autopilot}')) {
    const autopilot = await createAutopilot(daemon, login);
    if (!path.includes('{run}')) return { autopilot };
    const json = { input: 'Hello.' };
    const { id: run } = await post(daemon, `/api/autopilots/${autopilot}/runs`, { as: login, json });
    return { autopilot, run };
  }
  if (id === 'runChat') {
    const json = { autopilot: await createAutopilot(daemon, login) };
    return { thread: (await post(daemon, '/api/chats', { as: login, json })).id };
  }
  return {};
}

async function createAutopilot(daemon: Daemon, as: string): Promise<string> {
  const json = { displayName: 'Night Watch', policy: { model: 'sim/echo' } };
  return (await post(daemon, '/api/autopilots', { as, json })).id;
}

let paywallsMade = 0;

/** A wallet of the user, and a paywall. */
async function createPaywallExamples(daemon: Daemon, path: string, login: string): Promise<SiteIds> {
  await post(daemon, '/api/agents/me/wallet', { as: login, json: {} });
  paywallsMade += 1;
  const pathPrefix = `/example-${paywallsMade}`;
  if (!path.includes('{paywallId}')) return { paywallPath: pathPrefix };
  const json = { priceSats: 1, match: { pathPrefix }, upstream: { url: 'https://example.com' } };
  return { paywall: (await post(daemon, '/api/l402/paywalls', { as: login, json })).id };
}

/** A wallet of the user with some money; and of another user, an invoice to pay. */
async function createWalletExamples(
  daemon: Daemon,
  { id, path }: Pick<Endpoint, 'id' | 'path'>,
  login: string,
): Promise<SiteIds> {
  await givePlayMoney(daemon, login, 1000);
  const json = { amountSats: 10, description: 'Tea' };
  const invoiceOf = async (as: string) => (await post(daemon, '/api/payments/invoice', { as, json })).invoice;
  if (path.includes('{invoiceId}')) return { invoice: (await invoiceOf(login)).id };
  if (id !== 'payInvoice' && id !== 'decodeInvoice' && !/\{payment(Id)?\}/.test(path)) return {};
  const { login: payee } = await sharedPerson(daemon, 'peer');
  await post(daemon, '/api/agents/me/wallet', { as: payee, json: {} });
  const { paymentRequest } = await invoiceOf(payee);
  if (!/\{payment(Id)?\}/.test(path)) return { paymentRequest };
  const { payment } = await post(daemon, '/api/payments/pay', {
    as: login,
    json: { invoice: paymentRequest },
  });
  return { payment: payment.paymentId };
}

async function post(daemon: Pick<Daemon, 'url'>, path: string, { as, json }: { as: string; json: object }) {
  const { status, body } = await askDaemon(daemon, 'POST', path, { as, json });
  if (status !== 200) throw new Error(`${path}: ${JSON.stringify(body)}`);
  return body.data;
}
