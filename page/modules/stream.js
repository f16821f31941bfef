// The stream of events, which is followed for as long as the page is open, and the marks between them.

import { $, setText } from './elements.js';
import { showValue } from './attributes.js';
import { addRows, insertMarks, KEPT } from './journal.js';
import { readAnswer, request } from './requests.js';
import { noteScenarioEnd } from './scenarios.js';
import { clearSeries, noteEvent } from './series.js';
import { isOurs, refresh, state } from './state.js';
import { parseJSON } from './values.js';

/** Events after which a device's state is another one. */
const CHANGES =
  /^(central|mtu|advertising|app|fault|scenario|state|radio|link|services)\.|^(paired|ready|write)$|ubscribed$/;

let lastID = null;
/** The numbers of the first event of this run that was shown, and of the next one. */
let first = 1;
let next = 1;
/** Marks that no event has passed yet, and the last one that was read. */
let marks = [];
let lastMark;

/** Reads the marks that were set since the last time, and puts them between the events. */
async function readMarks() {
  const { cases } = await request('GET', '/v1/report');
  // A reset forgets them: then all are new.
  const known = cases.findLastIndex(({ name, seq }) => name === lastMark?.name && seq === lastMark.seq);
  lastMark = cases.at(-1);
  // Older ones have no events here any more.
  const added = cases.slice(known + 1).filter(({ seq }) => seq >= first);
  marks.push(...added.map(({ name, seq }) => ({ mark: name, seq })));
  insertMarks(passMarks(next));
}

/** The marks before an event. */
function passMarks(seq) {
  const count = marks.findIndex((mark) => mark.seq > seq);
  return marks.splice(0, count < 0 ? marks.length : count);
}

function showFrames(frames) {
  const added = [];
  let isChanged = false;
  for (const { id, data } of frames) {
    const event = parseJSON(data);
    const [run, number] = id.split('-');
    if (lastID?.split('-')[0] !== run) {
      if (lastID !== null) {
        added.push({ mark: 'a new history begins: mynah was started again or reset', isStart: true });
        clearSeries();
        marks = [];
        lastMark = undefined;
      }
      state.areLayoutsOld = true;
      first = Number(number);
    }
    lastID = id;
    next = Number(number) + 1;
    added.push(...passMarks(next - 1), { event });
    noteScenarioEnd(event);
    isChanged ||= CHANGES.test(event.event) && (isOurs(event) || !state.devices.includes(event.device));
    noteEvent(event);
    showValue(event);
  }
  addRows([...added, ...passMarks(next)]);
  if (isChanged) refresh();
}

function showLink(word, text) {
  state.isLive = word === 'live';
  $('link').dataset.state = word;
  setText($('link-text'), text);
  $('lost').hidden = word !== 'lost';
}

/** Reads server-sent events until the stream ends. */
async function follow() {
  const headers = { Accept: 'text/event-stream' };
  if (lastID !== null) headers['Last-Event-ID'] = lastID;
  const abort = new AbortController();
  const response = await fetch(`/v1/events?last=${KEPT}`, { headers, cache: 'no-store', signal: abort.signal });
  if (!response.ok) await readAnswer(response);
  showLink('live', 'Live');
  refresh();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  let watch;
  for (;;) {
    // The server writes a comment every 15 s if nothing happens.
    clearTimeout(watch);
    watch = setTimeout(() => abort.abort(), 40000);
    const { value, done } = await reader.read();
    if (done) break;
    text += value;
    const blocks = text.split('\n\n');
    text = blocks.pop();
    const frames = [];
    for (const block of blocks) {
      const frame = Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s, 2)));
      if (frame.data) frames.push(frame);
    }
    if (frames.length) showFrames(frames);
    // A comment says that a mark was set, that there was a reset or that the clock was moved.
    if (blocks.includes(': changed')) {
      state.areLayoutsOld = true;
      refresh();
      await readMarks();
    }
  }
  clearTimeout(watch);
}

/** Follows the stream, and begins again whenever it ends. */
export async function stayConnected() {
  let pause = 250;
  for (;;) {
    const begin = performance.now();
    let reason = '';
    try {
      await follow();
    } catch (error) {
      reason = error instanceof TypeError || error.name === 'AbortError' ? '' : error.message;
    }
    pause = performance.now() - begin > 5000 ? 250 : Math.min(pause * 2, 4000);
    showLink('lost', 'Connection lost');
    setText($('lost'), reason
      || `Mynah does not answer at ${location.host}. This is the last known state; the page connects again by itself.`);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
