// Series: the values that each number of the chosen device had in the last hour of the run. A number has as many steps
// for two minutes, for ten and for an hour, however often it changes, and so never takes more memory than that.

import { keptEvents } from './journal.js';
import { eventPath, isOurs, state } from './state.js';

/** The spans of time that a plot can show, in seconds. */
export const SPANS = [120, 600, 3600];
/** The steps in a span. Of the values in one step, the lowest, the highest and the last are kept. */
export const STEPS = 240;

/** The steps of each span, by the attribute's path and the field's name. */
let series = new Map();
/** The newest time of the run that is known, in seconds, and when that was, on the clock of the browser. */
let newest = -Infinity;
let newestAt = 0;

/** Whether the time of the run goes on while nothing happens. */
export const isTimeMoving = () => state.isLive && state.instance?.clock === 'real';

/** The time of the run now, in seconds. */
export const runTime = () => newest + (isTimeMoving() ? (performance.now() - newestAt) / 1000 : 0);

function noteTime(text) {
  const time = Date.parse(text) / 1000;
  if (!(time > runTime())) return;
  newest = time;
  newestAt = performance.now();
}

const keyOf = (path, field) => `${path} ${field}`;

/** The steps of a number in a span, the oldest first, or undefined if it had no value yet. */
export const stepsOf = (path, field, span) => series.get(keyOf(path, field))?.[span];

function addValue(key, time, value) {
  if (!series.has(key)) series.set(key, Object.fromEntries(SPANS.map((span) => [span, []])));
  for (const [span, steps] of Object.entries(series.get(key))) {
    const number = Math.floor(time / (span / STEPS));
    // The device may have been read before the events of the time until then come.
    const index = steps.findLastIndex((step) => step.number <= number);
    const step = steps[index];
    if (step?.number === number) {
      Object.assign(step, { low: Math.min(step.low, value), high: Math.max(step.high, value), value });
    } else {
      steps.splice(index + 1, 0, { number, low: value, high: value, value });
    }
    // One is before the span: its value is the one that the span begins with.
    while (steps[1]?.number <= steps.at(-1).number - STEPS) steps.shift();
  }
}

function addFields(path, time, fields, isNewer = () => true) {
  for (const [field, given] of Object.entries(fields ?? {})) {
    const value = Number(given);
    if (!/^(number|bigint)$/.test(typeof given) || !Number.isFinite(value)) continue;
    const key = keyOf(path, field);
    if (isNewer(series.get(key)?.[SPANS[0]].at(-1), value)) addValue(key, time, value);
  }
}

/** Whether an event has the whole value that an attribute of the chosen device has then. */
export const hasValue = (event) => (event.event === 'notified' || event.event === 'read') && isOurs(event)
  && !event.offset && !event.error && event.value !== undefined;

/** Keeps the time of an event, and the numbers in its value. */
export function noteEvent(event) {
  if (event.time) noteTime(event.time);
  if (event.time && hasValue(event)) addFields(eventPath(event), Date.parse(event.time) / 1000, event.fields);
}

/** Keeps the numbers of the device that was just read, but for those of which an event has told more. */
function noteReading() {
  if (!state.snapshot || !state.instance) return;
  noteTime(state.instance.now);
  const time = Date.parse(state.instance.now) / 1000;
  const isNewer = (last, value) =>
    !last || (last.value !== value && last.number <= Math.floor(time / (SPANS[0] / STEPS)));
  for (const { path, fields } of state.snapshot.attributes) addFields(path, time, fields, isNewer);
}

/** Forgets everything: another device was chosen, or the run began again. */
export function clearSeries() {
  series = new Map();
  newest = -Infinity;
}

document.addEventListener('read', noteReading);
document.addEventListener('chosen', () => {
  clearSeries();
  for (const event of keptEvents()) noteEvent(event);
});
