/** Mattermost has any host, and identifiers of 26 characters. Source: its documentation, "Incoming webhooks". */
const mattermostPath = /\/hooks\/[a-z0-9]{26}$/;

/** What a message of an alert contains, as far as chats need it. */
interface Message {
  type: string;
  data: { alert?: string; message?: string | null };
}

/** Discord rejects longer ones. */
const charactersMax = 2_000;

/**
 * The body in the form that the receiver understands. Chats take a text of their own, and reject everything else; other
 * receivers get the message as it is.
 * Sources: "Sending messages using incoming webhooks" (Slack), "Execute Webhook" (Discord), "Create incoming webhooks with
 * Workflows for Microsoft Teams", "Build a Google Chat app as a webhook".
 */
export function bodyFor(address: string, body: string): string {
  const form = formOf(new URL(address));
  return form ? JSON.stringify(form(textOf(JSON.parse(body) as Message))) : body;
}

function formOf({ hostname, pathname }: URL): ((text: string) => object) | undefined {
  const isHost = (...names: string[]) =>
    names.some((name) => hostname === name || hostname.endsWith(`.${name}`));
  if (isHost('hooks.slack.com', 'hooks.slack-gov.com', 'chat.googleapis.com')) return escapedText;
  if (isHost('discord.com', 'discordapp.com') && pathname.startsWith('/api/'))
    return pathname.endsWith('/slack') ? escapedText : discordMessage;
  if (mattermostPath.test(pathname)) return escapedText;
  return isHost('webhook.office.com', 'logic.azure.com', 'api.powerplatform.com') ? teamsCard : undefined;
}

function textOf({ type, data: { alert = '', message } }: Message): string {
  const said = message ? ` ${message}` : '';
  // Some sentences say it, too.
  if (type === 'alert.resolved')
    return `Resolved: ${alert}.${said.replace(' Resolved:', '')}`.slice(0, charactersMax);
  if (type === 'alert.test') return `A test of the alert ${alert}.${said}`.slice(0, charactersMax);
  return `Alert ${alert}:${said}`.slice(0, charactersMax);
}

/** Names of models and keys are chosen by others: they become no links and mention no one. */
function escapedText(text: string): object {
  return { text: text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;') };
}

function discordMessage(content: string): object {
  return { content, allowed_mentions: { parse: [] } };
}

function teamsCard(text: string): object {
  const card = {
    type: 'AdaptiveCard',
    version: '1.4',
    body: [{ type: 'TextBlock', text, wrap: true }],
  };
  const contentType = 'application/vnd.microsoft.card.adaptive';
  return { type: 'message', attachments: [{ contentType, contentUrl: null, content: card }] };
}
