import { describe, expect, test } from 'vitest';
import { formedMessage, quietRefusal } from '../../src/daemon/features/alerts/hook-forms.ts';
import { type WebhookFormat, webhookFormats } from '../../src/shared/constants/webhook-formats.ts';

const sentence = 'All calls cost $5.02 in the last hour. The threshold is $5.';
const messageOf = (type: string, message = sentence) =>
  JSON.stringify({ type, timestamp: '2026-11-24T11:52:00.000Z', data: { alert: 'dear', message } });
const fired = messageOf('alert.fired');
const text = `Alert dear: ${sentence}`;

const hex = '0123456789abcdef01234567';
const key = 'abcdefghijklmnopqrstuvwxyz';

/** Addresses of receivers, and what they take. */
const receivers: readonly [cites: string, address: string, body: object][] = [
  ['prodzilla/prodzilla#13', 'https://hooks.slack.com/services/T0/B0/x', { text }],
  ['hastic-zzz/hastic-server#719', 'https://hooks.slack-gov.com/services/T0/B0/x', { text }],
  ['bluewave-labs/Checkmate#3830', `https://chat.example.com/hooks/${hex}/${key}`, { text }],
  ['RocketChat/Rocket.Chat#1501', `https://chat.example.com/sub/hooks/aBcDeFgHiJkLmNoPq/${key}`, { text }],
  [
    'alerta/alerta-contrib#369, timothymiller/cloudflare-ddns#271',
    'https://zulip.example.com/api/v1/external/slack_incoming?api_key=x&stream=ops&topic=gateway',
    { text },
  ],
  [
    'danbyte-net/danbyte#157, ffind-dev/pve-ups#4',
    'https://default.01.environment.api.powerplatform.com/powerautomate/automations/direct/workflows/1/triggers/manual/paths/invoke',
    {
      type: 'message',
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          content: { type: 'AdaptiveCard', version: '1.4', body: [{ type: 'TextBlock', text, wrap: true }] },
        },
      ],
    },
  ],
  [
    'kOlapsis/maintenant#80, alpkeskin/rota#31',
    'https://api.telegram.org/bot1:x/sendMessage?chat_id=-1001&message_thread_id=7',
    { text },
  ],
  [
    'Runfusion/Fusion#3634',
    'https://open.feishu.cn/open-apis/bot/v2/hook/x',
    { msg_type: 'text', content: { text } },
  ],
  [
    'megaease/easeprobe#39',
    'https://open.larksuite.com/open-apis/bot/v2/hook/x',
    { msg_type: 'text', content: { text } },
  ],
  [
    'sanathp/statusok#56, ZhuLinsen/daily_stock_analysis#514',
    'https://oapi.dingtalk.com/robot/send?access_token=x',
    { msgtype: 'text', text: { content: text } },
  ],
  [
    'Alano-i/Plugins#13',
    'https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=x',
    { msgtype: 'text', text: { content: text } },
  ],
  [
    'Krillsson/monitee-agent#308',
    'https://push.example.com/message?token=AbC',
    { title: 'Alert dear', message: text, priority: 5 },
  ],
];

describe('a receiver is known by its address and gets what it takes', () => {
  test.each(receivers)('%s: %s', (_cites, address, body) => {
    const formed = formedMessage(address, fired);
    expect(JSON.parse(formed.body)).toMatchObject(body);
    expect(formed.headers).toEqual({ 'content-type': 'application/json' });
  });
});

/** A topic shows what it gets as it is; a title is a header. */
test.each([
  ['louislam/uptime-kuma#3476, healthchecks/healthchecks#1059', 'https://ntfy.sh/my-topic'],
  ['bljohnsondev/mishos#16, vavallee/bindery#1323', 'https://ntfy.example.com/my_topic'],
  ['gnacho/netpulse#766', 'http://ntfy/topic'],
])('%s: a topic of ntfy at %s gets text', (_cites, address) => {
  expect(formedMessage(address, fired)).toMatchObject({
    body: text,
    headers: { 'content-type': 'text/plain; charset=utf-8', title: 'Alert dear' },
  });
});

test.each([
  'https://hooks.example.com/gateway',
  'https://hooks.example.com/hooks/short',
  'https://example.com/message',
  'https://ntfy.example.com/api/hooks/gateway',
  'https://notdiscord.com/api/webhooks/1/x',
  'https://hooks.slack.com.example.com/services/T0/B0/x',
])('%s is not known, and gets the message of Standard Webhooks', (address) => {
  expect(formedMessage(address, fired).body).toBe(fired);
});

/** ovumcy/ovumcy-web#774, louislam/uptime-kuma#1052: a server of one's own has any name. */
test.each(webhookFormats)('the format %s can be chosen for any address', (format: WebhookFormat) => {
  const { body } = formedMessage('https://hooks.example.com/gateway', fired, format);
  expect(body === fired).toBe(format === 'standard');
  expect(body).toContain(sentence);
});

test('the format standard can be chosen for an address that tells another one', () => {
  expect(formedMessage('https://ntfy.sh/my-topic', fired, 'standard').body).toBe(fired);
});

test.each([
  [
    'alert.resolved',
    'Resolved: $0.10 for all calls in the last hour.',
    'Resolved: dear. $0.10 for all calls',
  ],
  ['alert.test', 'This is a test of the web hook.', 'A test of the alert dear. This is a test'],
])('a message of %s says so', (type, said, beginning) => {
  expect(formedMessage('https://ntfy.sh/topic', messageOf(type, said)).body).toContain(beginning);
});

/** develop202/kgcheckin#29, megaease/easeprobe#468, timonwong/prometheus-webhook-dingtalk#226, rustrak/rustrak#297 */
test.each([
  ['{"code":19024,"msg":"Key Words Not Found","data":{}}', 'code 19024: Key Words Not Found'],
  ['{"errcode":310000,"errmsg":"keywords not in content\\u0007"}', 'code 310000: keywords not in content '],
  ['{"errcode":93000}', 'code 93000.'],
  ['{"StatusCode":0,"StatusMessage":"success","code":0,"data":{},"msg":"success"}', undefined],
  ['{"errcode":0,"errmsg":"ok"}', undefined],
  ['', undefined],
  ['ok', undefined],
])('the answer %s', (answer, refusal) => {
  expect(quietRefusal(answer)).toBe(refusal && `The receiver refused the message with ${refusal}`);
});
