// Timeline: the events and marks that are kept, in rows of which only those in sight are elements, a filter, and the
// selected event.

import { $, draw, make, setText, tint } from './elements.js';
import { act, copyButton, ctlLine, quote } from './commands.js';
import { eventColor, eventDetail, eventTime } from './events.js';
import { copyText } from './requests.js';
import { eventPath, isOurs, state } from './state.js';

/** The number of rows that are kept. */
export const KEPT = 10000;
/** The height of a row. */
const ROW = 22;

/** The events and marks that are kept, and those of them that the filter lets through. */
let rows = [];
let shown = [];
let lastNumber = 0;
let selected = null;
let isFollowing = true;
let filterWords = [];

function haystack(row) {
  row.text ??= `${JSON.stringify(row.event)} ${eventDetail(row.event)}`.toLowerCase();
  return row.text;
}

function isShown(row) {
  if (row.mark !== undefined) return true;
  if ($('only').checked && !isOurs(row.event)) return false;
  return filterWords.every((word) => haystack(row).includes(word));
}

function selectRows() {
  const text = $('filter').value.trim().toLowerCase();
  filterWords = text ? text.split(/\s+/) : [];
  shown = rows.filter(isShown);
  draw(drawTimeline);
}

/** Adds rows at the end, and drops the oldest ones. */
export function addRows(added) {
  for (const row of added) row.number = ++lastNumber;
  rows.push(...added);
  for (const row of added) if (isShown(row)) shown.push(row);
  if (rows.length > KEPT) {
    rows.splice(0, rows.length - KEPT);
    const { length } = shown;
    shown = shown.filter(({ number }) => number >= rows[0].number);
    // The rows that somebody reads stay where they are.
    if (!isFollowing) $('events').scrollTop -= (length - shown.length) * ROW;
  }
  draw(drawTimeline);
}

/** The events of this history that are kept, the oldest first. */
export function keptEvents() {
  const start = rows.findLastIndex(({ isStart }) => isStart);
  return rows.slice(start + 1).flatMap(({ event }) => event ?? []);
}

/** Puts rows of marks between the events. */
export function insertMarks(marks) {
  for (const row of marks) {
    const before = rows.findLastIndex(({ event }) => !event?.seq || event.seq < row.seq);
    row.number = (rows[before]?.number ?? 0) + 0.5;
    rows.splice(before + 1, 0, row);
  }
  selectRows();
}

// MARK: Rows

const pool = [];

function createRow(index) {
  const onclick = () => {
    setFollowing(false);
    select(element.row);
  };
  const element = make('div.row', { role: 'option', id: `row-${index}`, onclick },
    make('time'), make('span.what'), make('span.who'), make('span'));
  $('space').append(element);
  return element;
}

function fillRow(element, row, index) {
  element.ariaPosInSet = index + 1;
  element.ariaSetSize = shown.length;
  element.ariaSelected = row === selected;
  element.style.transform = `translateY(${index * ROW}px)`;
  if (element.row === row) return;
  element.row = row;
  const { mark, event } = row;
  const texts = event
    ? [eventTime(event), event.event, event.device ?? '', eventDetail(event)] : ['', mark, '', ''];
  element.className = event ? 'row' : 'row mark';
  tint(element, event ? eventColor(event.event) : 'warn');
  texts.forEach((text, index) => { element.children[index].textContent = text; });
}

function drawTimeline() {
  const list = $('events');
  const height = `${shown.length * ROW}px`;
  const space = $('space');
  if (space.style.height !== height) space.style.height = height;
  if (isFollowing) list.scrollTop = shown.length * ROW;
  const first = Math.max(0, Math.floor(list.scrollTop / ROW) - 4);
  const count = Math.min(shown.length - first, Math.ceil(list.clientHeight / ROW) + 8);
  while (pool.length < count) pool.push(createRow(pool.length));
  pool.forEach((element, index) => {
    element.hidden = index >= count;
    if (index < count) fillRow(element, shown[first + index], first + index);
  });
  const active = pool.find((element) => !element.hidden && element.row === selected && selected);
  if (active) list.setAttribute('aria-activedescendant', active.id);
  else list.removeAttribute('aria-activedescendant');
  list.classList.toggle('many', state.devices.length > 1 && !$('only').checked);
  const part = shown.length === rows.length ? '' : `${shown.length} of `;
  setText($('timeline-count'), `${part}${rows.length} event${rows.length === 1 ? '' : 's'}`);
}

function setFollowing(isOn) {
  isFollowing = $('follow').checked = isOn;
}

// MARK: The selected event

function select(row) {
  selected = row ?? null;
  const event = selected?.event;
  $('detail').hidden = !event;
  if (event) {
    $('detail-name').textContent = event.event;
    $('detail-text').textContent = JSON.stringify(event, null, 2);
  }
  draw(drawTimeline);
}

function moveSelection(key) {
  const page = Math.max(1, Math.floor($('events').clientHeight / ROW) - 1);
  const now = selected ? shown.indexOf(selected) : shown.length;
  const steps = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page, Home: -Infinity, End: Infinity };
  if (!(key in steps) || shown.length === 0) return false;
  const index = Math.min(Math.max(now + steps[key], 0), shown.length - 1);
  setFollowing(index === shown.length - 1);
  const list = $('events');
  select(shown[index]);
  if (list.scrollTop > index * ROW) list.scrollTop = index * ROW;
  const end = (index + 1) * ROW - list.clientHeight;
  if (list.scrollTop < end) list.scrollTop = end;
  return true;
}

// MARK: Lines of mynah ctl

/** The words for waiting for an event like the selected one. */
function waitWords() {
  const { event } = selected;
  const match = ['device', 'value'].filter((key) => event[key] !== undefined && !event.offset)
    .map((key) => `${key}=${event[key]}`);
  const name = eventPath(event);
  return ['wait', event.event, ...match, ...(name ? [`of=${name}`] : [])];
}

/** The line that lists what the filter lets through. */
function eventsLine() {
  const searched = $('filter').value.trim().split(/\s+/).filter(Boolean);
  // A word may be an event's name, which the match of the line begins with.
  const name = searched.find((word) => rows.some((row) => row.event?.event === word));
  const match = name ? [name, ...($('only').checked ? [`device=${state.device}`] : [])] : [];
  const greps = searched.filter((word) => word !== name).map((word) => ` | grep -iF -e ${quote(word)}`);
  return ctlLine(['events', ...match, ['--since', '1']]) + greps.join('');
}

// MARK: Controls

$('timeline-aside').append(make('span', { id: 'timeline-count' }, '0 events'),
  copyButton('list these events', null, eventsLine));
$('detail-acts').append(
  act('Copy', 'Copy the event as JSON', waitWords, () => copyText(JSON.stringify(selected.event))),
  make('button', { ariaLabel: 'Close the event', onclick: () => select(null) }, 'Close'));
document.addEventListener('chosen', selectRows);
$('filter').addEventListener('input', selectRows);
$('only').addEventListener('change', selectRows);
$('follow').addEventListener('change', () => {
  isFollowing = $('follow').checked;
  draw(drawTimeline);
});
$('events').addEventListener('scroll', () => {
  const list = $('events');
  const isAtEnd = list.scrollTop + list.clientHeight >= list.scrollHeight - ROW;
  if (isAtEnd !== isFollowing) setFollowing(isAtEnd);
  draw(drawTimeline);
}, { passive: true });
$('events').addEventListener('keydown', (event) => {
  if (event.key === 'Escape') select(null);
  else if (moveSelection(event.key)) event.preventDefault();
});
new ResizeObserver(() => draw(drawTimeline)).observe($('events'));
