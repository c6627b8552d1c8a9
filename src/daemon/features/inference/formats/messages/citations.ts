import { unsigned } from '../../../../../shared/constants/unsigned.ts';
import type { Json } from '../../../../../shared/faults/invalid-request.ts';

/**
 * An annotation of the Responses format as a citation of this one, which has a place for those of pages only. Undefined for
 * others. The index that Anthropic encrypts is none of Anthropic's, so it is marked: Anthropic would refuse it.
 */
export function citationOf({ type, url, title }: Json): Json | undefined {
  if (type !== 'url_citation' || typeof url !== 'string') return undefined;
  return {
    type: 'web_search_result_location',
    url,
    title: typeof title === 'string' ? title : null,
    cited_text: '',
    encrypted_index: unsigned,
  };
}
