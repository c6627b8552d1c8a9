import { expect } from 'vitest';
import type { Endpoint } from '../../src/shared/contract/endpoint.ts';
import { statusOf } from '../../src/shared/contract/error-reply.ts';
import { answerableCodes } from '../../src/shared/contract/openapi.ts';
import { type ErrorCode, failures } from '../../src/shared/errors.ts';
import { httpCall, persistentAgent } from './http-call.ts';

export interface Answer {
  status: number;
  requestId: string;
  type: string;
  text: string;
}

export interface Sent {
  method?: string;
  path: string;
  /** A header that is undefined is not sent. */
  headers?: Record<string, string | undefined>;
  body?: Buffer | string;
  /** Sends the body in chunks, without its length. */
  chunked?: boolean | undefined;
}

/** Sends raw bytes over persistent connections, which `fetch` cannot. */
export function sender({ url, login }: { url: string; login: string }) {
  const agent = persistentAgent();
  const ask = async ({ method = 'POST', path, headers = {}, body, chunked }: Sent): Promise<Answer> => {
    const own: Record<string, string> = { authorization: `Bearer ${login}` };
    if (body !== undefined) own['content-type'] = 'application/json';
    const all = { ...own, ...headers };
    const answer = await httpCall(url + path, { method, agent, headers: all, body, chunked });
    return {
      status: answer.status,
      requestId: String(answer.headers['x-request-id']),
      type: String(answer.headers['content-type']),
      text: answer.text,
    };
  };
  return { ask, close: () => agent.destroy() };
}

const members = ['type', 'code', 'message', 'param', 'request_id'];
/** Additional members of some failures: the attempts, the nearest names. */
const furtherMembers = ['attempts', 'considered', 'nearest'];

export interface ReportedError {
  code: string;
  param: string | null;
  message: string;
}

/** Checks what must hold for every answer to any input; returns its failure, if any. */
export function expectValidAnswer(endpoint: Endpoint, answer: Answer): ReportedError | undefined {
  expect(answer.requestId).toMatch(/^req_\w{26}$/);
  if (answer.status === 200) return undefined;
  expect(answer.type).toBe('application/json; charset=utf-8');
  if (endpoint.surface === 'site') return siteFailure(endpoint, answer);
  const { error, ...rest } = JSON.parse(answer.text);
  expect(rest).toEqual({});
  expect(Object.keys(error).filter((name) => !furtherMembers.includes(name))).toEqual(members);
  expect(error.request_id).toBe(answer.requestId);
  expect(answerableCodes(endpoint)).toContain(error.code);
  const { status, type } = failures[error.code as ErrorCode];
  expect([answer.status, error.type]).toEqual([status, type]);
  // The only server error that bad input may cause: no provider has what it requests.
  if (status >= 500) expect(error.code).toBe('no_route');
  expect(error.message).toMatch(/\S/);
  // Names are quoted, and cut where they are long; nothing else of a request comes back.
  expect(error.message.length).toBeLessThan(600);
  expect((error.param ?? '').length).toBeLessThan(200);
  expect(answer.text.length).toBeLessThan(3000);
  return error;
}

/** The site API has no error codes: the code follows from the status, and the invalid field is named. */
function siteFailure(endpoint: Endpoint, answer: Answer): ReportedError {
  const { message, errors, ...rest } = JSON.parse(answer.text) as {
    message: string;
    errors?: Record<string, string[]>;
  };
  expect(rest).toEqual({});
  const codes = answerableCodes(endpoint).filter((code) => statusOf({ code }, 'site') === answer.status);
  expect([answer.status, codes]).not.toEqual([answer.status, []]);
  expect(answer.status).toBeLessThan(500);
  expect(errors !== undefined).toBe(answer.status === 422);
  expect(answer.text.length).toBeLessThan(10_000);
  expect(message).toMatch(/\S/);
  const [first] = Object.entries(errors ?? {});
  for (const sentences of Object.values(errors ?? {})) {
    for (const sentence of sentences) expect(sentence.length).toBeLessThan(400);
  }
  const byStatus: Record<number, ErrorCode> = {
    400: 'invalid_json',
    404: 'not_found',
    409: 'conflict',
    413: 'limit_exceeded',
    422: 'invalid_request',
    429: 'rate_limited',
  };
  const code = byStatus[answer.status] ?? 'server_error';
  // `body` names the whole body, and also a field of some bodies.
  const isWhole = first?.[0] === 'body' && !first[1][0]?.startsWith('`body`');
  const param = first === undefined || isWhole ? null : first[0];
  return { code, param, message: first?.[1][0] ?? message };
}
