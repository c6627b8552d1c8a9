const doubled = /^(?:\/+v1){2,}\/+/;
const unversioned = /^\/{1,2}(?=(?:chat\/completions|responses|messages|models|embeddings)(?:[/?]|$))/;

/**
 * The path that is meant. Clients disagree on whether a base URL ends with `/v1`: some add it to one that has it, others add it
 * to none.
 */
export function servedPath(url: string): string {
  return url.replace(unversioned, '/v1/').replace(doubled, '/v1/');
}
