import { listOf } from '../../../../shared/json/json-object.ts';
import { isObject, type Json, objectsOf, textOf } from '../../json.ts';

/**
 * The pages that an answer is based on, as annotations without a place: Perplexity and xAI list them next to the choices.
 * Undefined if there are none. Source: their API references; BerriAI/litellm#13777, vercel/ai#9164.
 */
export function sourcesIn({ citations, search_results: results }: Json): Json[] | undefined {
  if (!Array.isArray(citations) && !Array.isArray(results)) return undefined;
  const titles = new Map(objectsOf(results).map(({ url, title }) => [url, title]));
  const cited = listOf(citations).map((each) => (isObject(each) ? each : { url: each }));
  const sources = (cited.length > 0 ? cited : objectsOf(results)).flatMap(({ url, title }: Json) =>
    typeof url === 'string' && url !== ''
      ? [{ type: 'url_citation', url, title: textOf(title ?? titles.get(url)) || url }]
      : [],
  );
  return sources.length > 0 ? sources : undefined;
}
