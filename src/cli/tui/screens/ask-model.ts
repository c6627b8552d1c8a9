import type { CreateResponseBody } from '../../../shared/contract/responses.ts';
import { createResponse } from '../../addresses.ts';
import { textOfResponse } from '../../commands/respond/answer-text.ts';
import { billOfResponse } from '../../commands/respond/bill.ts';
import type { Page, Services } from '../screen.ts';
import { foreignLines } from '../text/cells.ts';

interface Question {
  text: string;
  /** The default one unless told. */
  model?: string | undefined;
  /** The thread that keeps question and answer. */
  thread?: string | undefined;
}

/** Asks a model, and resolves to its answer with what it took. */
export async function askModel(question: Question, { client, now, defaultModel }: Services): Promise<Page> {
  const { text, thread } = question;
  if (text.trim() === '') throw new Error('Write what to ask.');
  const startedAt = now();
  const model = question.model ?? (await defaultModel());
  const body: CreateResponseBody = { model, input: text, ...(thread && { service: { thread } }) };
  let requestId: string | undefined;
  const onOpen = (headers: Record<string, string>) => {
    requestId = headers['x-request-id'];
  };
  const response = await client.call(createResponse, { headers: {}, body }, { onOpen });
  const answer = textOfResponse(response);
  const bill = billOfResponse(response, { requestId, tookMs: now() - startedAt });
  return {
    title: text,
    lines: ({ width, paint }) => [
      ...foreignLines(answer.trimEnd(), width),
      '',
      ...foreignLines(bill, width).map((line) => paint('dim', line)),
    ],
    copy: answer,
  };
}
