// Scenarios: a button that plays each, and how it ended the last time.

import { $, keyed, make, setText, showSection } from './elements.js';
import { command } from './commands.js';
import { devicePath, state } from './state.js';

const scenarioEnds = new Map();

/** Keeps how a scenario ended, from an event. */
export function noteScenarioEnd(event) {
  if (event.event === 'scenario.ended') scenarioEnds.set(`${event.device}/${event.scenario}`, event);
}

export function drawScenarios({ scenarios }) {
  showSection('scenarios', scenarios.length > 0);
  keyed($('scenarios'), scenarios, ({ name }) => name, ({ name }) => make('div.line',
    make('span.grow', name, make('small.dim')),
    command('Play', `Play the scenario ${name}`, ['scenario', state.device, name], 'POST',
      devicePath('scenarios', name), {})),
  (element, { name, playing }) => {
    const end = scenarioEnds.get(`${state.device}/${name}`);
    const text = playing ? 'is played' : end ? `${end.result}${end.message ? ': ' + end.message : ''}` : '';
    setText(element.querySelector('small'), text);
    element.querySelector('.act button').disabled = playing;
  });
}
