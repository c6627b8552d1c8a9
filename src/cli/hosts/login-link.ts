/** A login code and where it is good, in one line that can be pasted: `https://gateway.example.org/login#7K3QM-9XWZ2`. */
export function loginLink(url: string, code: string): string {
  return `${url.replace(/\/+$/, '')}/login#${code}`;
}

/** Takes a link apart; what is none is a code alone. */
export function readLoginLink(text: string): { url: string | undefined; code: string } {
  // What stands behind # is sent to no server by whoever opens the link in a browser.
  const [, url, code] = /^((?:https?:\/\/|unix:\/)[^#\s]+?)\/login#([\w-]+)$/i.exec(text) ?? [];
  return url === undefined || code === undefined ? { url: undefined, code: text } : { url, code };
}
