import { messageOf } from '../../../shared/faults/message-of.ts';

/** Writes the answer to one question to a model's process. */
export interface Reply {
  head(status: number, contentType: 'application/json' | 'text/event-stream'): void;
  data(text: string): void;
}

/** A request that the model cannot answer, in OpenAI's terms. */
export class RequestFault extends Error {
  readonly code: string;
  readonly param: string | null;

  constructor(code: 'context_length_exceeded' | 'unsupported_value', message: string, param: string | null) {
    super(message);
    this.name = 'RequestFault';
    this.code = code;
    this.param = param;
  }
}

/** The error object of OpenAI's formats, and its status. */
export function errorOf(error: unknown): { status: number; body: object } {
  if (error instanceof RequestFault) {
    const { message, code, param } = error;
    return { status: 400, body: { error: { message, type: 'invalid_request_error', code, param } } };
  }
  const message = messageOf(error);
  return { status: 500, body: { error: { message, type: 'server_error', code: null, param: null } } };
}
