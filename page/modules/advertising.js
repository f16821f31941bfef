// Air: the advertising data, whose AD structures come decoded from the API, and a switch for it.

import { $, make, tint } from './elements.js';
import { copyButton, perform, switchLine } from './commands.js';
import { devicePath, state } from './state.js';
import { spaced } from './values.js';

/** The colours of the style sheet for AD types, and names that are shorter than the API's. */
const AD_TYPES = {
  1: ['flags'], 2: ['uuids', 'Some services'], 3: ['uuids', 'Services'], 4: ['uuids'], 5: ['uuids'],
  6: ['uuids', 'Some services'], 7: ['uuids', 'Services'], 8: ['name', 'Short name'], 9: ['name', 'Name'],
  10: ['other', 'TX power'], 22: ['service'], 32: ['service'], 33: ['service'], 255: ['company'],
};

function packet(title, hex, structures) {
  const bytes = make('p.bytes');
  const table = make('dl.ads');
  for (const { type, name, data, text } of structures) {
    const [color, title = name] = AD_TYPES[type] ?? ['other'];
    const [length, code] = [data.length / 2 + 1, type].map((byte) =>
      byte.toString(16).toUpperCase().padStart(2, '0'));
    bytes.append(tint(make('span.ad', { title }, make('i', length), ' ', make('b', code),
      data && ' ' + spaced(data)), color), ' ');
    table.append(tint(make('dt', title), color), make('dd', text));
  }
  return make('div.packet',
    make('h3', title, make('span.aside', `${hex.length / 2}${hex.length > 62 ? '' : ' of 31'} bytes`)), bytes, table);
}

export function drawAir({ advertising, address, radio, state: radioState }) {
  const air = $('air');
  const text = JSON.stringify([advertising, address, radio, radioState]);
  if (air.text === text && air.firstChild) return;
  air.text = text;
  if (!air.firstChild) {
    const words = () => ['advertise', state.device, [isOn() ? '--no-on' : '--on']];
    const isOn = () => state.snapshot.advertising.on;
    air.append(switchLine('Advertising', words,
      () => perform(words(), 'POST', devicePath('advertise'), { on: !isOn() })), make('div'));
    $('air-aside').replaceChildren(copyButton('show the device', () => ['show', state.device]));
  }
  const [top, body] = air.children;
  const { on, omitted, intervalMilliseconds: low, intervalMaximumMilliseconds: high } = advertising;
  const interval = low ? ` every ${low}${high ? ` to ${high}` : ''} ms` : '';
  top.state(on, radioState !== 'poweredOn' ? radioState : on ? 'On the air' + interval : 'Off the air');
  const sets = [advertising, ...advertising.sets ?? []];
  const parts = sets.flatMap(({ set = 1, data, scanResponse, structures, ...rest }) => [
    make('p.dim', [sets[1] && `set ${set}`, rest.address ?? address, radio, rest.connectable === false &&
      'not connectable', rest.secondaryPHY && `extended, LE ${rest.secondaryPHY}`].filter(Boolean).join(' · ')),
    on && data && packet('Advertising data', data, structures.data),
    on && scanResponse && packet('Scan response', scanResponse, structures.scanResponse)].filter(Boolean));
  if (omitted?.length) parts.push(make('h3', 'Omitted'), make('ul.omitted',
    ...omitted.map(({ item, reason }) => make('li', make('b', item), ` ${reason}`))));
  body.replaceChildren(...parts);
}
