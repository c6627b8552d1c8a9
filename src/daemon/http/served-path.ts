const doubled = /^(?:\/+v1)+(?=\/+v1\/)/;
const unversioned = /^\/{1,2}(?:chat\/completions|responses|messages|models|embeddings)(?=[/?]|$)/;

/**
 * The path that is meant. Clients disagree on whether a base URL ends with `/v1`: some add it to one that has it, others add it
 * to none.
 */
export function servedPath(url: string): string {
  if (unversioned.test(url)) return `/v1${url}`;
  return url.replace(doubled, '');
}
