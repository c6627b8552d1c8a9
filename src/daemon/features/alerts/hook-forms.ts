import type { WebhookFormat } from '../../../shared/constants/webhook-formats.ts';
import { type JsonObject, parseObject } from '../../../shared/json/json-object.ts';

/** What a message of an alert contains, as far as people need it. */
interface Message {
  type: string;
  data: { alert?: string; message?: string | null };
}

/** Discord rejects longer ones, and so do others from there on. */
const charactersMax = 2_000;

/** A message as its receiver understands it. */
interface FormedMessage {
  body: string;
  headers: Record<string, string>;
  /** Whether a refusal has a status of success, so that the answer has to be read. */
  mayRefuseQuietly: boolean;
}

/**
 * The message in the form of its receiver, which is the given one or known by the address. Chats take a text of their own and
 * reject everything else, and services that push messages to phones show JSON as it is; other receivers get the body unchanged.
 * Sources: "Sending messages using incoming webhooks" (Slack), "Execute Webhook" (Discord), "Create incoming webhooks with
 * Workflows for Microsoft Teams", "Build a Google Chat app as a webhook", "Publishing" (ntfy), "Push messages" (Gotify), "sendMessage"
 * (Telegram), "Custom bot usage guide" (Feishu), "Custom robots" (DingTalk) and "Group robots" (WeCom).
 */
export function formedMessage(address: string, body: string, given?: WebhookFormat): FormedMessage {
  const format = given ?? formatOf(new URL(address));
  const mayRefuseQuietly = format === 'feishu' || format === 'dingtalk';
  const headers = { 'content-type': 'application/json' };
  if (format === 'standard') return { body, headers, mayRefuseQuietly };
  const message = JSON.parse(body) as Message;
  const text = textOf(message);
  if (format === 'ntfy')
    return {
      body: text,
      headers: { 'content-type': 'text/plain; charset=utf-8', title: titleOf(message) },
      mayRefuseQuietly,
    };
  return { body: JSON.stringify(forms[format](text, message)), headers, mayRefuseQuietly };
}

/** Mattermost, Rocket.Chat and Zulip have any host. Source: their pages on incoming webhooks. */
const slackPaths =
  /\/hooks\/([a-z0-9]{26}|[A-Za-z0-9]{17,24}\/[A-Za-z0-9]{20,})$|\/api\/v1\/external\/slack_incoming$/;

function formatOf({ hostname, pathname, searchParams }: URL): WebhookFormat {
  const isHost = (...names: string[]) =>
    names.some((name) => hostname === name || hostname.endsWith(`.${name}`));
  if (isHost('hooks.slack.com', 'hooks.slack-gov.com', 'chat.googleapis.com')) return 'slack';
  if (isHost('discord.com', 'discordapp.com') && pathname.startsWith('/api/'))
    return pathname.endsWith('/slack') ? 'slack' : 'discord';
  if (isHost('webhook.office.com', 'logic.azure.com', 'api.powerplatform.com')) return 'teams';
  if (isHost('api.telegram.org')) return 'telegram';
  if (isHost('open.feishu.cn', 'open.larksuite.com')) return 'feishu';
  if (isHost('oapi.dingtalk.com', 'qyapi.weixin.qq.com')) return 'dingtalk';
  if (slackPaths.test(pathname)) return 'slack';
  if (pathname.endsWith('/message') && searchParams.has('token')) return 'gotify';
  // A topic is the whole path.
  return /^ntfy(\.|$)/.test(hostname) && /^\/[\w-]+$/.test(pathname) ? 'ntfy' : 'standard';
}

type Form = (text: string, message: Message) => object;

const forms: Record<Exclude<WebhookFormat, 'standard' | 'ntfy'>, Form> = {
  // Names of models and keys are chosen by others: they become no links and mention no one.
  slack: (text) => ({
    text: text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
  }),
  discord: (content) => ({ content, allowed_mentions: { parse: [] } }),
  teams: teamsCard,
  gotify: (text, message) => ({ title: titleOf(message), message: text, priority: 5 }),
  // The chat is in the address.
  telegram: (text) => ({ text }),
  feishu: (text) => ({ msg_type: 'text', content: { text } }),
  dingtalk: (content) => ({ msgtype: 'text', text: { content } }),
};

function teamsCard(text: string): object {
  const card = {
    type: 'AdaptiveCard',
    version: '1.4',
    body: [{ type: 'TextBlock', text, wrap: true }],
  };
  const contentType = 'application/vnd.microsoft.card.adaptive';
  return { type: 'message', attachments: [{ contentType, contentUrl: null, content: card }] };
}

function titleOf({ type, data: { alert = '' } }: Message): string {
  if (type === 'alert.resolved') return `Resolved: ${alert}`;
  return type === 'alert.test' ? `A test of the alert ${alert}` : `Alert ${alert}`;
}

function textOf(message: Message): string {
  const { type, data } = message;
  const said = data.message ? ` ${data.message}` : '';
  const separator = type === 'alert.fired' ? ':' : '.';
  // Some sentences say it, too.
  const once = type === 'alert.resolved' ? said.replace(' Resolved:', '') : said;
  return `${titleOf(message)}${separator}${once}`.slice(0, charactersMax);
}

/** Why a receiver refused a message in an answer of success, such as `{"errcode":310000,"errmsg":"…"}`. */
export function quietRefusal(answer: string): string | undefined {
  const { errcode, errmsg, code = errcode, msg = errmsg }: JsonObject = parseObject(answer) ?? {};
  if (typeof code !== 'number' || code === 0) return undefined;
  const said = typeof msg === 'string' ? `: ${msg.slice(0, 200).replaceAll(/[^\P{C}]/gu, ' ')}` : '.';
  return `The receiver refused the message with code ${code}${said}`;
}
