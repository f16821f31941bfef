// An event in words: its colour, its time and its members.

import { state, uuidName } from './state.js';
import { spaced } from './values.js';

/** The colours for the names of events. */
const COLORS = [
  [/^(error|warning|fault\.|request\.(refused|unanswered)|radio\.lost)/, 'bad'],
  [/^(central|mtu|paired|pairing|link|peripheral)/, 'name'], [/^(read|value\.read)$/, 'uuids'],
  [/^(write|value\.written|request\.asked)$/, 'flags'], [/^(notified|confirmed|value\.updated)$/, 'other'],
  [/ubscribed$|^(notification|app\.|alert|scenario)/, 'service'], [/^(advertising|scan|radio)/, 'dim'],
];
export const eventColor = (name) => COLORS.find(([pattern]) => pattern.test(name))?.[1] ?? 'text';

const LEFT_OUT = new Set([
  'seq', 'time', 'event', 'device', 'service', 'characteristic', 'descriptor', 'path', 'value', 'fields', 'tick',
]);

function inWords(value) {
  if (value?.set) return `${value.set} ${value.data || value.scanResponse}`;
  if (Array.isArray(value)) return value.length ? value.map(inWords).join(', ') : 'none';
  if (value && typeof value === 'object') {
    return Object.entries(value).map(([key, item]) => `${key} ${inWords(item)}`).join(', ');
  }
  return String(value);
}

/** The members of an event in words. */
export function eventDetail(event) {
  const parts = [];
  const uuid = event.descriptor ?? event.characteristic;
  if (event.fields) parts.push(inWords(event.fields));
  else if (event.value !== undefined) parts.push(spaced(event.value) || 'empty');
  if (uuid) parts.push(event.path ?? uuidName(uuid));
  for (const [key, value] of Object.entries(event)) {
    if (LEFT_OUT.has(key) || value === '' || value?.length === 0) continue;
    if (typeof value === 'boolean') {
      if (value ? key !== 'withResponse' : /able$/.test(key)) parts.push(value ? key : `not ${key}`);
      continue;
    }
    parts.push(key === 'central' ? `by ${value}` : key === 'message' ? inWords(value) : `${key} ${inWords(value)}`);
  }
  return parts.join(' · ');
}

/** The time of an event where the user is, or in UTC with virtual time. */
export function eventTime({ time }) {
  if (!time) return '';
  const date = new Date(time);
  if ((state.instance?.clock ?? 'real') !== 'real') return date.toISOString().slice(11, 23);
  return `${date.toTimeString().slice(0, 8)}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}
