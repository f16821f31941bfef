// Requests to the program, and messages that are shown for a while.

import { $, make } from './elements.js';
import { parseJSON } from './values.js';

/** The answer to a request; an error has the status. */
export async function request(method, path, body) {
  const options = { method };
  if (body !== undefined) {
    options.headers = { 'Content-Type': 'application/json' };
    options.body = JSON.stringify(body);
  }
  return readAnswer(await fetch(path, options));
}

/** The answer of the program, or an error if it refuses. */
export async function readAnswer(response) {
  const { ok, status } = response;
  const answer = await response.text().then(parseJSON).catch(() => null);
  if (!ok) throw Object.assign(new Error(answer?.detail ?? `status ${status}`), { status });
  return answer;
}

const ends = {};

/** Shows a message for a while: a toast, or a trouble. */
export function say(text, id = 'toast') {
  $(id).textContent = text;
  clearTimeout(ends[id]);
  ends[id] = setTimeout(() => { $(id).textContent = ''; }, 6000);
}

/** Puts a text into the clipboard. */
export async function copyText(text) {
  try {
    // Only localhost and HTTPS have a clipboard.
    if (!navigator.clipboard) throw new Error();
    await navigator.clipboard.writeText(text);
  } catch {
    const focused = document.activeElement;
    const area = make('textarea.away', { value: text, 'aria-hidden': 'true' });
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
    focused?.focus();
  }
  say(`Copied: ${text}`);
}
