// The lines of mynah ctl: each thing that is done here has one, the bar at the bottom keeps them, and a button copies
// it.

import { $, draw, make, setText } from './elements.js';
import { copyText, request, say } from './requests.js';
import { refresh } from './state.js';

const done = [];

export function quote(word) {
  return /^[\w@%+=:,./-][\w@%+=:,./~-]*$/.test(word) ? word : `'${String(word).replaceAll("'", "'\\''")}'`;
}

/** The options of mynah ctl that lead to this program. */
const access = ['--control', location.origin];

// Scripts cannot read the cookie of a browser that signed in. A program that wants a token refuses requests without.
fetch('/v1', { credentials: 'omit' }).then(({ ok }) => {
  if (!ok) access.push('--control-token-file', 'TOKEN-FILE');
}, () => {});

/** The line of a shell for a verb of mynah ctl and its arguments; options are arrays. */
export function ctlLine([verb, ...words]) {
  const values = words.filter((word) => !Array.isArray(word)).map(String);
  if (values.some((word) => word.startsWith('-'))) values.unshift('--');
  const options = words.filter(Array.isArray).flat();
  return ['mynah ctl', verb, ...[...options, ...access, ...values].map(quote)].join(' ');
}

/** Sends a request, and notes the line that does the same; returns the answer, or null if it failed. */
export async function perform(words, ...what) {
  const text = ctlLine(words);
  try {
    const answer = await request(...what);
    noteDone(text);
    return answer;
  } catch (error) {
    say(error.message, 'trouble');
    return null;
  } finally {
    refresh();
  }
}

function noteDone(text) {
  // A slider leaves one line and not a hundred.
  const [begin, last] = [text, done.at(-1)].map((text) => text?.replace(/'{[^']*}'$/, ''));
  if (begin !== text && begin === last) done.pop();
  done.push(text);
  draw(drawDone);
}

function drawDone() {
  $('done').textContent = done.at(-1);
  $('done-count').textContent = `Commands: ${done.length}`;
  $('copy-done').disabled = $('copy-all').disabled = false;
}
$('copy-done').addEventListener('click', () => copyText(done.at(-1)));
$('copy-all').addEventListener('click', () => copyText(done.join('\n')));

/** A button that copies the line of mynah ctl; `words` returns its words, or `text` the line. */
export function copyButton(what, words, text = () => ctlLine(words())) {
  const label = `Copy the mynah ctl line: ${what}`;
  return make('button.copy', { title: label, ariaLabel: label, onclick: () => copyText(text()) },
    $('copy-icon').content.cloneNode(true));
}

/** A button with its copy button. */
export function act(label, what, words, run) {
  return make('span.act', make('button', { ariaLabel: what, title: what, onclick: run }, label),
    copyButton(what, words));
}

/** A button that sends a request, with its copy button. */
export const command = (label, what, words, ...sent) =>
  act(label, what, () => words, () => perform(words, ...sent));

/** A line with a switch, a text and a note, which `state` sets. */
export function switchLine(label, words, run) {
  const toggle = make('button.switch', { role: 'switch', ariaLabel: label, onclick: run });
  const text = make('span.grow');
  const note = make('span.count');
  const element = make('div.line', toggle, text, note, copyButton(`${label} on or off`, words));
  element.state = (isOn, words, more = '') => {
    toggle.ariaChecked = isOn;
    element.classList.toggle('on', isOn);
    setText(text, words);
    setText(note, more);
  };
  return element;
}
