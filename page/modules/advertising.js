// Air: the advertising sets, each with a switch if there are several, what kind it is, and its data, whose AD structures
// come decoded from the API.

import { $, keyed, make, setText, tint } from './elements.js';
import { copyButton, perform, switchLine } from './commands.js';
import { devicePath, state } from './state.js';

/** The colours of the style sheet for AD types, and names that are shorter than the API's. */
const AD_TYPES = {
  1: ['flags'], 2: ['uuids', 'Some services'], 3: ['uuids', 'Services'], 4: ['uuids'], 5: ['uuids'],
  6: ['uuids', 'Some services'], 7: ['uuids', 'Services'], 8: ['name', 'Short name'], 9: ['name', 'Name'],
  10: ['other', 'TX power'], 22: ['service', 'Service data'], 32: ['service', 'Service data'],
  33: ['service', 'Service data'], 255: ['company', 'Manufacturer'],
};

/** The bytes of a structure; those that are not as before are marked. */
function dataBytes(data, before) {
  return (data.match(/../g) ?? []).flatMap((byte, index) =>
    [' ', before && before.slice(2 * index, 2 * index + 2) !== byte ? make('u', byte) : byte]);
}

function drawPacket(element, hex, structures, capacity) {
  const [head, bytes, table] = element.children;
  element.hidden = !hex;
  setText(head.children[0], `${hex.length / 2} of ${capacity} bytes`);
  if (element.hex === hex) return;
  const before = element.structures ?? [];
  const rows = structures.map(({ type, name, data, text }, index) => {
    const [color, title = name] = AD_TYPES[type] ?? ['other'];
    const [length, code] = [data.length / 2 + 1, type].map((byte) =>
      byte.toString(16).toUpperCase().padStart(2, '0'));
    const old = before[index]?.type === type ? before[index].data : null;
    return [tint(make('span.ad', { title }, make('i', length), ' ', make('b', code), ...dataBytes(data, old)), color),
      tint(make('dt', title), color), make('dd', text)];
  });
  bytes.replaceChildren(...rows.flatMap(([span]) => [span, ' ']));
  table.replaceChildren(...rows.flatMap(([, ...words]) => words));
  Object.assign(element, { hex, structures });
}

/** What kind of advertising a set is. */
function kindWords(set) {
  const { intervalMilliseconds: low, intervalMaximumMilliseconds: high, connectable, scannable } = set;
  const phy = (name) => `LE ${name === 'coded' ? 'Coded' : name}`;
  return [
    low && `every ${low}${high ? ` to ${high}` : ''} ms`,
    connectable === false ? 'not connectable' : 'connectable', scannable === false ? 'not scannable' : 'scannable',
    ...set.periodicData === undefined ? [] : [`periodic every ${set.periodicIntervalMilliseconds} ms`],
    ...set.secondaryPHY ? ['extended', `primary ${phy(set.primaryPHY ?? '1M')}`, `data ${phy(set.secondaryPHY)}`] : [],
  ].filter(Boolean);
}

const isOn = (name) => state.snapshot.advertising.all.find(({ set }) => set === name)?.on ?? false;

function createSet({ set: name }) {
  const words = () => ['advertise', state.device, ['--set', name, isOn(name) ? '--no-on' : '--on']];
  const packet = (title) => make('div.packet', make('h3', title, make('span.aside')), make('p.bytes'), make('dl.ads'));
  return make('div.set',
    switchLine(`Advertising set ${name}`, words,
      () => perform(words(), 'POST', devicePath('advertise'), { set: name, on: !isOn(name) })),
    make('p.chips'), packet('Advertising data'), packet('Scan response'), packet('Periodic advertising data'));
}

function updateSet(element, set, hasSwitch) {
  const [toggle, chips, data, scanResponse, periodic] = element.children;
  const { on, set: name, structures = {}, address } = set;
  toggle.hidden = !hasSwitch;
  toggle.state(on, name ?? '', on && hasSwitch ? address : '');
  keyed(chips, on ? kindWords(set) : [], (text) => text, (text) => make('span.chip', text));
  const capacity = !set.secondaryPHY ? 31 : set.connectable === false ? 1650 : 245;
  drawPacket(data, on ? set.data ?? '' : '', structures.data ?? [], capacity);
  drawPacket(scanResponse, on ? set.scanResponse ?? '' : '', structures.scanResponse ?? [], capacity);
  drawPacket(periodic, on ? set.periodicData ?? '' : '', structures.periodic ?? [], 1650);
}

export function drawAir({ advertising, address, radio, state: radioState }) {
  const air = $('air');
  if (!air.firstChild) {
    const words = () => ['advertise', state.device, [state.snapshot.advertising.on ? '--no-on' : '--on']];
    air.append(switchLine('Advertising', words, () =>
      perform(words(), 'POST', devicePath('advertise'), { on: !state.snapshot.advertising.on })),
    make('p.dim'), make('div'), make('div'));
    air.names = [];
    $('air-aside').replaceChildren(copyButton('show the device', () => ['show', state.device]));
  }
  const [top, where, list, omitted] = air.children;
  const isFull = (advertising.omitted ?? []).some(({ item }) => item === 'centrals');
  top.state(advertising.on, radioState !== 'poweredOn' ? radioState : isFull ? 'Off the air while it is connected'
    : advertising.on ? 'On the air' : 'Off the air');
  setText(where, [address, radio].filter(Boolean).join(' · '));
  // Without any set on the air, the first entry has no name.
  advertising.all = [advertising, ...advertising.sets ?? []].filter(({ set }, _, { length }) => length === 1 || set);
  // A set that is switched stays in its place.
  const known = (set) => air.names.indexOf(set);
  for (const { set } of advertising.all) if (known(set) < 0) air.names.push(set);
  const sets = [...advertising.all].sort((one, other) => known(one.set) - known(other.set));
  keyed(list, sets, ({ set }) => set, createSet, (element, set) => updateSet(element, set, sets.length > 1));
  const items = advertising.all.flatMap(({ omitted = [] }) => omitted);
  const text = JSON.stringify(items);
  if (omitted.text === text) return;
  omitted.text = text;
  omitted.replaceChildren(...items.length ? [make('h3', 'Omitted'), make('ul.omitted',
    ...items.map(({ item, reason }) => make('li', make('b', item), ` ${reason}`)))] : []);
}
