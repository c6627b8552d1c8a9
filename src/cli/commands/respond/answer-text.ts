import type { ResponseResource } from '../../../shared/contract/responses.ts';
import { responseText } from '../../../shared/response-text.ts';

/** What an answer says: its text, then each function call as a line of JSON. */
export function textOfResponse(response: ResponseResource): string {
  const text = responseText(response.output);
  const end = text === '' || text.endsWith('\n') ? '' : '\n';
  return text + end + callsOfResponse(response);
}

/** Each function call of an answer as a line of JSON. */
export function callsOfResponse(response: ResponseResource): string {
  return response.output
    .filter((item) => item.type === 'function_call')
    .map(({ call_id, name, arguments: given }) => {
      return `${JSON.stringify({ type: 'function_call', call_id, name, arguments: given })}\n`;
    })
    .join('');
}
