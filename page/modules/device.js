// The chosen device: the tabs of all devices, and the sections of this one, each of which has a module.

import { $, keyed, make, setText } from './elements.js';
import { drawAir } from './advertising.js';
import { drawApp } from './app.js';
import { drawAttributes } from './attributes.js';
import { drawCentrals } from './centrals.js';
import { drawFaults } from './faults.js';
import { plotSpan } from './plots.js';
import { drawScenarios } from './scenarios.js';
import { choose, state } from './state.js';
import { drawVariables } from './variables.js';

/** The sections; those that not every device has are shown when they have something. */
const SECTIONS = {
  Air: drawAir, Centrals: drawCentrals, App: drawApp, Faults: drawFaults, Scenarios: drawScenarios,
  Variables: drawVariables, Attributes: drawAttributes,
};
for (const title in SECTIONS) {
  const id = title.toLowerCase();
  $(id === 'attributes' ? 'middle' : 'left').append(
    make('section', { ariaLabel: title, hidden: /^(App|[FSV])/.test(title) },
      make('h2', title, make('span.aside', { id: `${id}-aside` })), make('div', { id })));
}
$('attributes-aside').before(plotSpan);

document.addEventListener('chosen', () => {
  for (const title in SECTIONS) $(title.toLowerCase()).replaceChildren();
});

document.addEventListener('read', () => {
  const { device, devices, instance, snapshot } = state;
  drawDevices();
  $('nothing').hidden = devices.length > 0 || !instance;
  $('clock').hidden = instance?.clock !== 'manual';
  setText($('now'), instance?.now ?? '');
  document.body.classList.toggle('empty', devices.length === 0);
  document.title = device === null ? 'Mynah' : `${device} – Mynah`;
  if (snapshot) for (const part of Object.values(SECTIONS)) part(snapshot);
});

function drawDevices() {
  const nav = $('devices');
  if (state.devices.length > 6) {
    let select = nav.querySelector('select');
    if (!select) {
      select = make('select', { ariaLabel: 'Device', onchange: () => choose(select.value) });
      nav.replaceChildren(select);
    }
    keyed(select, state.devices, (name) => name, (name) => make('option', { value: name }, name));
    select.value = state.device;
    return;
  }
  if (nav.querySelector('select')) nav.replaceChildren();
  keyed(nav, state.devices, (name) => name,
    (name) => make('button', { onclick: () => choose(name) }, name),
    (button, name) => {
      button.ariaCurrent = name === state.device ? 'true' : null;
    });
}
