/** The members of requests that commands call otherwise, as options or arguments. */
const inputNames: Readonly<Record<string, readonly string[]>> = {
  abilities: ['--ability'],
  actions: ['--allow-action'],
  allowedOrigins: ['--allow-origin'],
  amount_sats: ['--sats'],
  amountSats: ['--sats', '<sats>'],
  body: ['<text>'],
  chatId: ['--chat'],
  day_starts: ['--day-starts'],
  displayName: ['--name', '<name>'],
  concurrency: ['--concurrency'],
  error_code: ['<query>'],
  expires_at: ['--expires'],
  freePaths: ['--free-path'],
  freeRequestsPerDay: ['--free-per-day'],
  input: ['<prompt>', '<text>', '<question>'],
  invoice: ['<destination>'],
  'limits.concurrency': ['--concurrency'],
  'limits.expires_at': ['--expires'],
  'limits.max_price': ['--max-price'],
  'limits.models': ['--model'],
  'limits.queue_seconds': ['--queue'],
  'limits.requests_per_minute': ['--rpm'],
  'limits.spend_cap': ['--spend-cap'],
  'limits.spend_cap.day_starts': ['--day-starts'],
  'limits.spend_cap.time_zone': ['--time-zone'],
  match: ['--path'],
  'match.host': ['--match-host'],
  'match.methods': ['--method'],
  'match.pathPrefix': ['--path'],
  maxAmountMsats: ['--max-sats'],
  maxAmountSats: ['--max-sats'],
  maxSpendMsats: ['--max-sats'],
  members_may_issue_keys: ['--members-may-issue-keys'],
  minutes: ['--for'],
  models: ['--allow-model', '--model'],
  outcome: ['--paid'],
  path: ['<file>'],
  period: ['<amount/period>'],
  'policy.model': ['--model'],
  'policy.modelSpendCap': ['--spend-cap'],
  previous_response_id: ['--previous'],
  priceSats: ['--price'],
  q: ['<query>'],
  queue_seconds: ['--queue'],
  'questions.choices': ['--choice'],
  'questions.levels': ['--levels'],
  rateLimit: ['--rate'],
  'rateLimit.requests': ['--rate'],
  'reasoning.effort': ['--reasoning-effort'],
  recipientHandle: ['<person>'],
  requests_per_minute: ['--rpm'],
  'schedule.cron': ['--schedule'],
  'schedule.input': ['--input'],
  'schedule.maxSpendMsats': ['--run-max-sats'],
  'schedule.timeZone': ['--time-zone'],
  scopes: ['--scope'],
  'service.cache': ['--cache'],
  'service.thread': ['--thread'],
  spend_cap: ['--spend-cap'],
  'spend_cap.day_starts': ['--day-starts'],
  'spend_cap.time_zone': ['--time-zone'],
  'text.format.schema': ['--json-schema'],
  time_zone: ['--time-zone'],
  timeoutMs: ['--timeout'],
  'token.maxUses': ['--uses'],
  'token.timeoutSeconds': ['--expires'],
  'upstream.rewritePrefix': ['--rewrite'],
  'upstream.url': ['--upstream'],
  usd: ['<amount/period>'],
  value: ['--key', '--user', '--tag', '--model', '--provider', '--where'],
  webhook_url: ['--webhook'],
  webhook_format: ['--webhook-format'],
  week_starts: ['--week-starts'],
  window_minutes: ['--window'],
};

/** Sentences of the API for programmers, and what they are for the user of a command. */
const sentences: readonly [api: RegExp, command: string][] = [
  // Advice to run `gateway models` follows.
  [/ ?GET \/v1\/models lists the models\./, ''],
  [/^This endpoint is not available\b/, 'This command is not available'],
  [/: call it at \/v1\/embeddings\./, '. To call it: gateway embed'],
  [/: call it at \/v1\/responses, .{0,80}\./, '. To call it: gateway respond'],
];

/**
 * The input of a command that sets a member of its request: `--expires` for `limits.expires_at`. Undefined if the command
 * has none; `inputs` are all it has.
 */
export function inputFor(member: string, inputs: readonly string[]): string | undefined {
  const path = member.replace(/\[\d+\]/g, '');
  const word = path.replaceAll('_', '-').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const named = [...(inputNames[path] ?? []), `--${word}`, `<${word}>`].find((name) => inputs.includes(name));
  if (named !== undefined || !whatIsMeant.test(path)) return named;
  // What a path names is the first argument of its command.
  return inputs.find((name) => name.startsWith('<'));
}

/** Parameters of paths: `id`, `paywallId`, `request_id`. */
const whatIsMeant = /^(id|\w+(Id|_id)|backend|daemon|name|peer|user)$/;

/** A sentence of the API in the words of the command that made the call. */
export function inCommandWords(sentence: string, inputs: readonly string[]): string {
  const named = sentence.replace(
    /`([\w.[\]]+)(: false)?`/g,
    (quoted, member: string, isFalse: string | undefined) =>
      inputFor(isFalse ? `no_${member}` : member, inputs) ?? quoted,
  );
  return sentences.reduce((text, [api, command]) => text.replace(api, command), named);
}
