import type { ComponentChildren } from 'preact';
import { capturedTexts } from '../../../shared/calls/captured-text.ts';
import type { TraceView } from '../../../shared/contract/traces.ts';
import { isReplayed } from '../../../shared/replay/prepare-replay.ts';
import { rowOfTrace } from '../../../view/call-row.ts';
import { callFields } from '../../../view/calls.ts';
import { pick } from '../../../view/field.ts';
import { keyText } from '../../../view/key-names.ts';
import { briefCount } from '../../../view/numbers.ts';
import { clockTime, day, exactTime } from '../../../view/times.ts';
import { callsHref } from '../../data/calls-link.ts';
import type { CallsLink } from '../../data/calls-query.ts';
import { useKeyNames } from '../../data/key-names.ts';
import { now } from '../../data/now.ts';
import { zone } from '../../data/preferences.ts';
import { hrefOf } from '../../data/route.ts';
import { FieldText, titleOf } from '../../parts/field-columns.tsx';
import { Status } from '../../parts/status.tsx';
import { CopyMenu } from './copy-menu.tsx';
import { conversationHref } from './session.tsx';

const factNames = ['total_ms', 'first_token_ms', 'tokens_per_second', 'tokens', 'cost_usd'];

/** What a call was, why it failed, and what it has in common with others. */
export function CallHead({ trace }: { trace: TraceView }) {
  const { attempts } = trace;
  const context = { now: now.value, keyNames: useKeyNames() };
  const row = rowOfTrace(trace);
  const facts: [string, ComponentChildren][] = [
    ...pick(callFields, factNames).map((field): [string, ComponentChildren] => [
      titleOf(field),
      <FieldText key={field.name} field={field} row={row} context={context} />,
    ]),
    ['Content', capturedTexts[trace.captured?.state ?? 'none']],
  ];
  return (
    <header class="call-head">
      <div class="call-title">
        <h1>{trace.model ?? 'no model'}</h1>
        <Status status={trace.status} code={trace.error_code} />
        {attempts.length > 1 && <span class="quiet">{attempts.length} attempts</span>}
        <span class="call-actions">
          {isReplayed(trace.endpoint) && (
            <a
              class="button"
              href={hrefOf('playground', [], { replay: trace.request_id })}
              title="Send it again, changed or to other models"
            >
              Replay
            </a>
          )}
          <CopyMenu trace={trace} />
        </span>
      </div>
      <Reason trace={trace} />
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <Shared trace={trace} />
    </header>
  );
}

/** Why a call failed: what the provider answered, and what the client got. */
function Reason({ trace }: { trace: TraceView }) {
  const { status, rejection, attempts, http_status: http, error_code: code } = trace;
  if (rejection)
    return (
      <p class="refusal">
        {rejection.message}
        {rejection.more > 0 && ` ${briefCount(rejection.more)} more like it were rejected before.`}
      </p>
    );
  if (status === 'completed' || status === 'incomplete') return null;
  const failed = attempts.findLast(({ error_code: failure }) => failure !== null);
  if (failed === undefined && code === null) return null;
  return (
    <p class="refusal">
      {failed && (
        <>
          <strong>
            {failed.provider} {failed.status > 0 ? `answered ${failed.status}` : 'did not answer'}
          </strong>{' '}
          {failed.error_code}
          {failed.message && `: ${failed.message}`}{' '}
        </>
      )}
      {code !== null && (
        <>
          The client got {http === null ? 'no response' : http} {code}.
        </>
      )}
    </p>
  );
}

/** When it ended, and each of its labels as a link to the calls that have it, too. */
function Shared({ trace }: { trace: TraceView }) {
  const keyNames = useKeyNames();
  const timeZone = zone.value === 'local' ? undefined : zone.value;
  const { completed_at: at, endpoint, http_status: http, provider, key, client, user, conversation } = trace;
  const links: [title: string, text: string | null, filters: CallsLink][] = [
    ['Endpoint', endpoint, { endpoint }],
    ['HTTP', http === null ? null : String(http), { http: String(http) }],
    ['Provider', provider, { provider: provider ?? '' }],
    ['Key', key && keyText(key, keyNames), { key: key ?? '' }],
    ['Client', client, { client: client ?? '' }],
    ['User', user, { user: user ?? '' }],
    ...Object.entries(trace.tags).map(([name, value]): [string, string, CallsLink] => [
      'Tag',
      `${name}=${value}`,
      { tag: `${name}=${value}` },
    ]),
  ];
  return (
    <dl class="call-labels">
      <div>
        <dt>Completed</dt>
        <dd>
          <time dateTime={at} title={exactTime(at, timeZone)}>
            {day(at, timeZone)}, {clockTime(at, timeZone)}
          </time>
        </dd>
      </div>
      {links.map(
        ([title, text, filters]) =>
          text && (
            <div key={title + text}>
              <dt>{title}</dt>
              <dd>
                <a href={callsHref(filters)}>{text}</a>
              </dd>
            </div>
          ),
      )}
      {conversation && (
        <div>
          <dt>Conversation</dt>
          <dd>
            <a href={conversationHref(conversation)}>{conversation}</a>
          </dd>
        </div>
      )}
      {trace.replay_of && (
        <div>
          <dt>Repeats</dt>
          <dd>
            <a href={hrefOf('calls', [trace.replay_of])}>{trace.replay_of}</a>
          </dd>
        </div>
      )}
    </dl>
  );
}
