import { expect } from 'vitest';

/** Whom calls are made for, and with what texts. */
export interface Told {
  url: string;
  key: string;
  login: string;
  model: string;
  user: string;
  text: string;
}

interface Asking {
  as?: string;
  headers?: Record<string, string>;
  status?: number;
}

/** Makes calls for an end user whose text goes into every place that stores texts. The provider has to repeat what it gets. */
export async function tellEverywhere({ url, key, login, model, user, text }: Told, threadId: string) {
  const ask = async (path: string, json: unknown, { as = key, headers, status = 200 }: Asking = {}) => {
    const answer = await fetch(url + path, {
      method: 'POST',
      body: JSON.stringify(json),
      headers: {
        authorization: `Bearer ${as}`,
        'content-type': 'application/json',
        'x-service-user': user,
        ...headers,
      },
    });
    const body = await answer.text();
    expect(answer.status, body).toBe(status);
    return body;
  };
  const stored = await ask('/v1/responses', { model, input: text, store: true });
  await ask('/v1/responses', { model, input: text, store: true, stream: true });
  await ask('/v1/responses', { model, input: `${text}!`, background: true, stream: true });
  const messages = [{ role: 'user', content: text }];
  await ask('/v1/chat/completions', { model, messages });
  await ask('/v1/messages', { model, messages, max_tokens: 100, stream: true });
  await ask('/v1/responses', { model, input: text, conversation: threadId }, { as: login });
  await ask('/v1/responses', { model, input: text, service: { cache: 'read-write' } });
  const once = { 'idempotency-key': `once-${user.length}` };
  for (const _time of [1, 2])
    await ask('/v1/responses', { model, input: text, store: false }, { headers: once });
  await ask('/v1/responses', { model: 'no/such-model', input: text }, { status: 404 });
  await ask('/v1/responses', { model, input: { text } }, { status: 400 });
  const questions = [{ type: 'predicate', name: 'late', instructions: text }];
  await ask('/v1/decisions', { model: 'sim/assistant', input: text, questions });
  await ask('/v1/embeddings', { model: 'sim/embedding', input: text });
  return { responseId: (JSON.parse(stored) as { id: string }).id };
}
