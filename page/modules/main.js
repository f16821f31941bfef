// The start of the page, and the controls that are always there: reset, clock and marks. `page/embed` joins the
// modules in one file, in the order of their imports.

import './device.js';
import { $ } from './elements.js';
import { act, command, perform } from './commands.js';
import { refresh, state } from './state.js';
import { stayConnected } from './stream.js';

/** Puts a button into an element, and lets a form do the same. */
function addAct(place, form, label, what, words, run) {
  $(place).append(act(label, what, words, run));
  $(form).addEventListener('submit', (event) => {
    event.preventDefault();
    run();
  });
}

$('reset').append(
  command('Reset', 'Reset all devices to their state at the start', ['reset'], 'POST', '/v1/reset', {}));

const advanceWords = () => ['advance', $('by').value];
addAct('advance', 'clock', 'Advance', 'Advance the clock', advanceWords,
  () => perform(advanceWords(), 'POST', '/v1/clock/advance', { by: $('by').value }));

const markWords = () => ['mark', $('mark-name').value.trim() || 'mark'];
addAct('mark-act', 'mark', 'Mark', 'Set the mark', markWords, async () => {
  const [, name] = markWords();
  if (await perform(markWords(), 'POST', '/v1/mark', { name })) $('mark-name').value = '';
});

// Another client may have changed what no event tells.
addEventListener('focus', refresh);

if (location.hash.length > 1) {
  try {
    state.device = decodeURIComponent(location.hash.slice(1));
  } catch {
    // Not one of ours.
  }
}
stayConnected();
