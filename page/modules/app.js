// App: the state of the app that plays the device, and a button for each word of an app and its phone.

import { $, make, setText, showSection } from './elements.js';
import { command } from './commands.js';
import { devicePath, state } from './state.js';

export function drawApp({ app }) {
  showSection('app', app !== null);
  if (!app) return;
  setText($('app-aside'), app.state);
  const parent = $('app');
  if (!parent.firstChild) {
    const spans = state.words.map((word) => {
      const label = word.replace(/[A-Z]/g, (letter) => ' ' + letter.toLowerCase());
      const span = command(label, `App: ${label}`, ['app', state.device, word], 'POST', devicePath('app'),
        { state: word });
      span.word = word;
      return span;
    });
    parent.append(make('p.acts.states', ...spans.splice(0, 7)),
      make('details', make('summary', 'More'), make('p.acts.states', ...spans)));
  }
  for (const { word, firstChild } of parent.querySelectorAll('.act')) {
    const isOn = word === app.state || app.authorization.startsWith(word);
    // A word that is no state is never pressed.
    if (isOn || firstChild.ariaPressed) firstChild.ariaPressed = isOn;
  }
}
