import { type Json, textOf } from '../../json.ts';

/** Where a cited text is in its message. */
interface Span {
  start: number;
  end: number;
}

/**
 * A citation as an annotation of the Responses format: of a page, or of a document by its title. Undefined for other types.
 * Source: Anthropic's API reference, `TextCitation`; OpenAI's, `output_text`.
 */
export function annotationOf(citation: Json, { start, end }: Span): Json | undefined {
  const { type, url, source, title, document_title, document_index, file_id } = citation;
  switch (type) {
    case 'web_search_result_location':
    case 'search_result_location': {
      const page = textOf(url) ?? textOf(source);
      if (page === undefined || !/^https?:\/\//i.test(page)) return undefined;
      return {
        type: 'url_citation',
        url: page,
        title: textOf(title) ?? '',
        start_index: start,
        end_index: end,
      };
    }
    case 'char_location':
    case 'page_location':
    case 'content_block_location': {
      const filename = textOf(document_title) ?? `document ${document_index}`;
      return { type: 'file_citation', file_id: textOf(file_id) ?? '', filename, index: end };
    }
    default:
      return undefined;
  }
}
