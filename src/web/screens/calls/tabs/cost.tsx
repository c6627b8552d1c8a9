import { costParts } from '../../../../shared/calls/call-cost.ts';
import type { TraceView } from '../../../../shared/contract/traces.ts';
import { groupDigits } from '../../../../shared/text/group-digits.ts';
import { briefDollars, dollars } from '../../../../view/money.ts';
import { Amount } from '../../../parts/amount.tsx';
import { number, TableHead } from '../../../parts/table-head.tsx';

/** Tokens by kind, at the prices of the day of the call. */
export function Cost({ trace }: { trace: TraceView }) {
  const { cost, prices, tokens, charged_usd: charged, own_key: isOwnKey } = trace;
  const { parts, rest, saved } = costParts({ tokens, prices, cost });
  return (
    <>
      <table class="plain-table cost-table">
        <TableHead columns={['Kind', number('Tokens'), number('Per million'), number('Amount')]} />
        <tbody>
          {parts.map(({ kind, tokens: count, price, usd }) => (
            <tr key={kind}>
              <th scope="row">{kind}</th>
              <td class="number">{groupDigits(String(count))}</td>
              <td class="number">{price === null ? '' : dollars(price)}</td>
              <td class="number">{usd === null ? '' : <Amount usd={usd} />}</td>
            </tr>
          ))}
          {rest !== null && (
            <tr>
              <th scope="row">other than tokens, such as tools</th>
              <td />
              <td />
              <td class="number">
                <Amount usd={rest} />
              </td>
            </tr>
          )}
          {cost && (
            <>
              <tr class="sum">
                <th scope="row">Provider</th>
                <td />
                <td />
                <td class="number">
                  <Amount usd={cost.provider_usd} />
                </td>
              </tr>
              <tr>
                <th scope="row">Margin</th>
                <td />
                <td />
                <td class="number">
                  <Amount usd={cost.margin_usd} />
                </td>
              </tr>
              <tr class="sum">
                <th scope="row">Total</th>
                <td />
                <td />
                <td class="number">
                  <Amount usd={cost.total_usd} />
                </td>
              </tr>
            </>
          )}
        </tbody>
      </table>
      {cost === null && <p class="quiet">The price of this call is not known.</p>}
      {cost !== null && prices === null && <p class="quiet">The prices of this call are not kept.</p>}
      <p class="quiet">
        {saved !== null && `Cached input saved ${briefDollars(saved)}. `}
        {tokens.reasoning > 0 &&
          `Output includes ${groupDigits(String(tokens.reasoning))} reasoning tokens. `}
        {!trace.tokens_reported && 'The provider reported no tokens: they are estimated. '}
        {isOwnKey ? 'Paid with the workspace’s own provider key. ' : `Charged: ${briefDollars(charged)}. `}
        {trace.cache === 'hit' && 'The answer came from the cache.'}
      </p>
    </>
  );
}
