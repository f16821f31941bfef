// Attributes: the value of each as fields, bytes and text, which can be set and notified.

import { $, draw, keyed, make, setText, textBox } from './elements.js';
import { act, perform } from './commands.js';
import { createField, isNumber } from './fields.js';
import { createPlot, drawSoon } from './plots.js';
import { say } from './requests.js';
import { hasValue } from './series.js';
import { attributeName, devicePath, eventPath, state } from './state.js';
import { printable, spaced } from './values.js';

/** The layouts that the controls were made for. */
let madeFor;

export function drawAttributes({ attributes }) {
  setText($('attributes-aside'), `${attributes.length}`);
  if (madeFor !== state.layouts) $('attributes').replaceChildren();
  madeFor = state.layouts;
  const services = [];
  for (const attribute of attributes) {
    const service = attribute.path.split('/')[0];
    if (services.at(-1)?.service !== service) services.push({ service, attributes: [] });
    services.at(-1).attributes.push(attribute);
  }
  keyed($('attributes'), services, ({ service }) => service, ({ service, attributes }) => {
    const name = state.layouts.get(attributes[0].path)?.names[0] ?? service;
    return make('div.service',
      make('h3', name, make('code.dim', name === service ? '' : service)), make('div'));
  }, (element, { attributes }) => {
    keyed(element.children[1], attributes, ({ path }) => path, createAttribute,
      (child, attribute) => child.update(attribute));
  });
}

/** Shows the value of an event without asking for it. */
export function showValue(event) {
  if (!hasValue(event)) return;
  const name = eventPath(event);
  const attribute = state.snapshot?.attributes.find(({ path }) => path === name);
  if (!attribute) return;
  attribute.value = event.value;
  attribute.fields = event.fields;
  draw(drawValues);
  drawSoon();
}

function drawValues() {
  if (state.snapshot) drawAttributes(state.snapshot);
}

/** What a phone notices of how the values are sent. */
function sendingWords({ subscription, pieces }) {
  return [
    subscription === 'none' && 'There is no 2902: every connected phone gets its values.',
    subscription === 'always' && 'Every connected phone gets its values, also one that has not written 2902.',
    pieces && 'A value longer than ATT_MTU − 3 is sent in pieces.',
  ].filter(Boolean).join(' ');
}

function createAttribute({ path: name }) {
  const layout = state.layouts.get(name);
  const title = attributeName(name);
  const uuid = name.split('/').at(-1);
  const element = make(name.split('/').length > 2 ? 'div.attribute.descriptor' : 'div.attribute');
  const head = make('div.line',
    make('span.grow', make('b', title), ' ', make('code.dim', title === uuid ? '' : uuid)),
    make('span.chips'));
  const rules = make('p.dim');
  const fields = make('div.fields');
  const hex = textBox(`${title}: value in hexadecimal`, { oninput: () => setDraft('hex') }, 'input.hex');
  const text = textBox(`${title}: value as text`, { placeholder: 'text', oninput: () => setDraft('text') },
    'input.text');
  let latest;
  /** The form that was edited and is not sent: fields, hex or text. */
  let draft = null;
  let editors = new Map();
  let isSending = false;
  let isWaiting = false;

  const setDraft = (form) => {
    draft = form;
    element.classList.toggle('edited', form !== null);
  };
  const given = () => Object.fromEntries([...editors].map(([name, editor]) => [name, editor.value]));
  const form = () => draft ?? (editors.size ? 'fields' : 'hex');
  const value = () => ({ fields: given(), hex: hex.value.trim(), text: text.value })[form()];
  const words = (notify) => {
    const last = { fields: JSON.stringify, hex: (hex) => hex.replaceAll(' ', ''), text: String }[form()](value());
    return ['set', state.device, name, last, form() === 'hex' ? [] : [`--${form()}`], notify ? ['--notify'] : []];
  };

  async function send(notify) {
    const body = { [form()]: value() };
    if (notify) body.notify = true;
    const answer = await perform(words(notify), 'PUT', devicePath('values', ...name.split('/')), body);
    if (!answer) return;
    setDraft(null);
    if (notify) say(`Sent to ${answer.sent ?? 'an unknown number of'} central${answer.sent === 1 ? '' : 's'}`);
  }

  /** A slider moves faster than requests do: one at a time, and the newest value last. */
  async function sendLive() {
    isWaiting = true;
    if (isSending) return;
    isSending = true;
    while (isWaiting) {
      isWaiting = false;
      await send(false);
    }
    isSending = false;
  }

  const edited = (isAtOnce) => {
    setDraft('fields');
    if (isAtOnce) sendLive();
  };

  function drawFields(values, isForced) {
    const items = (layout?.fields ?? []).filter((field) => values && (field.name in values || !field.optional));
    if (items.map((field) => field.name).join() !== [...editors.keys()].join()) {
      editors = new Map(items.map((field) => [field.name, createField(field, title, edited)]));
      for (const field of items.filter(isNumber)) {
        editors.get(field.name).element.append(createPlot(name, field, title));
      }
      fields.replaceChildren(...[...editors.values()].map((editor) => editor.element));
    }
    for (const [name, editor] of editors) {
      if (isForced || editor.input !== document.activeElement) editor.set(values[name]);
    }
  }

  element.addEventListener('keydown', ({ key, target }) => {
    // Enter changes a number, which sends it.
    if (key === 'Enter' && target.type === 'text') send(false);
    if (key === 'Escape' && draft !== null) {
      setDraft(null);
      fill(true);
    }
  });
  const acts = make('span.acts', act('Set', `Set ${title}`, () => words(false), () => send(false)));
  element.append(head, rules, fields, make('div.line.raw', hex, text, acts));

  element.update = (next) => {
    if (!latest) {
      const { properties } = next;
      head.children[1].append(...properties.map((word) => make('span.chip', word)));
      if (next.handle) head.append(make('code.dim.handle', { title: 'Attribute handle' }, `@${next.handle}`));
      if (properties.some((word) => word === 'notify' || word === 'indicate')) {
        acts.append(act('Notify', `Notify ${title} now`, () => words(true), () => send(true)));
      }
    }
    latest = next;
    setText(rules, sendingWords(next));
    element.classList.toggle('absent', next.value === undefined);
    if (draft === null && !isSending) fill(false);
  };

  /** Shows the latest value, except in the control that has the focus, unless it is forced. */
  function fill(isForced) {
    const { value, fields } = latest;
    if (isForced || hex !== document.activeElement) hex.value = spaced(value ?? '');
    if (isForced || text !== document.activeElement) text.value = printable(value ?? '');
    hex.placeholder = value === undefined ? 'no value while the app does not run' : 'empty';
    // A value that does not fit its layout has no fields.
    drawFields(fields ?? (value ? null : {}), isForced);
    text.hidden = editors.size > 0;
  }
  return element;
}
