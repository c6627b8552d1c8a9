import type { CreateResponseBody } from '../../../shared/contract/responses.ts';
import { createResponse } from '../../../shared/endpoints.ts';
import { textOfResponse } from '../../commands/respond/answer.ts';
import { summarizeResponse } from '../../commands/respond/call-cost.ts';
import type { Services } from '../services/services.ts';
import { untrustedLines } from '../text/cells.ts';
import type { Page } from './screen.ts';

interface Question {
  text: string;
  /** By default the default model of the daemon. */
  model?: string | undefined;
  /** The thread to ask in. */
  thread?: string | undefined;
}

/** Asks a model, and resolves to a page with its answer and what it cost. */
export async function askModel(question: Question, { client, now, defaultModel }: Services): Promise<Page> {
  const { text, thread } = question;
  if (text.trim() === '') throw new Error('Type a question first.');
  const startedAt = now();
  const model = question.model ?? (await defaultModel());
  const body: CreateResponseBody = { model, input: text, ...(thread && { service: { thread } }) };
  let requestId: string | undefined;
  const onOpen = (headers: Record<string, string>) => {
    requestId = headers['x-request-id'];
  };
  const response = await client.call(createResponse, { headers: {}, body }, { onOpen });
  const answer = textOfResponse(response);
  const bill = summarizeResponse(response, { requestId, tookMs: now() - startedAt });
  return {
    title: text,
    lines: ({ width, paint }) => [
      ...untrustedLines(answer.trimEnd(), width),
      '',
      ...untrustedLines(bill, width).map((line) => paint('dim', line)),
    ],
    copy: answer,
  };
}
