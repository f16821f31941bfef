// Variables: the value of each, which can be set.

import { $, keyed, make, showSection, textBox } from './elements.js';
import { act, perform } from './commands.js';
import { devicePath, state } from './state.js';
import { numberOf } from './values.js';

export function drawVariables({ variables }) {
  const items = Object.entries(variables);
  showSection('variables', items.length > 0);
  keyed($('variables'), items, ([name]) => name, ([name]) => {
    const input = textBox(`Variable ${name}`);
    const isText = () => typeof state.snapshot.variables[name] === 'string';
    const value = () => isText() ? input.value : numberOf(input.value);
    const words = () => ['variable', state.device, name, input.value, isText() ? ['--text'] : []];
    const send = () => perform(words(), 'PUT', devicePath('variables', name), { value: value() });
    input.addEventListener('keydown', ({ key }) => {
      if (key === 'Enter') send();
      if (key === 'Escape') input.value = state.snapshot.variables[name];
    });
    return make('div.line', make('span.grow', name), input,
      act('Set', `Set the variable ${name}`, words, send));
  }, (element, [, value]) => {
    const input = element.children[1];
    if (input !== document.activeElement) input.value = value;
  });
}
