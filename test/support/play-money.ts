import { askDaemon } from './users.ts';

/**
 * Puts play money into a user's wallet: the owner of the host takes it from the faucet, and pays an invoice of the user.
 * Both get a wallet first, if they have none.
 */
export async function givePlayMoney(
  daemon: { url: string; login: string },
  login: string,
  amountSats: number,
): Promise<void> {
  const post = async (as: string, path: string, json: object) => {
    const { status, body } = await askDaemon(daemon, 'POST', path, { as, json });
    if (status !== 200) throw new Error(`${path}: ${JSON.stringify(body)}`);
    return body.data;
  };
  for (const as of new Set([daemon.login, login])) await post(as, '/api/agents/me/wallet', {});
  await post(daemon.login, '/api/agents/me/wallet/faucet', { amountSats });
  if (login === daemon.login) return;
  const { invoice } = await post(login, '/api/payments/invoice', { amountSats });
  await post(daemon.login, '/api/payments/pay', { invoice: invoice.paymentRequest });
}
