// Plots: a line of a number's last minutes, under its slider, with a reading of each value by pointer and by keyboard. A
// plot is there once the number has changed.

import { draw, make, setText } from './elements.js';
import { eventTime } from './events.js';
import { numberText } from './fields.js';
import { isTimeMoving, runTime, SPANS, STEPS, stepsOf } from './series.js';

/** The size of a plot, which the style sheet stretches. */
const [WIDTH, HEIGHT, MARGIN] = [1000, 100, 6];
/** Where the line ends, so that its last point is seen. */
const END = 985;

const spanName = (span) => span < 3600 ? `${span / 60} min` : `${span / 3600} h`;

/** The control for the time that the plots show. */
export const plotSpan =
  make('select', { id: 'span', ariaLabel: 'Time of the plots', hidden: true, onchange: drawSoon });
for (const span of SPANS) plotSpan.append(make('option', { value: span }, `last ${spanName(span)}`));

function makeSVG(tag, properties, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [key, value] of Object.entries(properties)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** The steps in sight, the oldest first; of one from before the span, only the last value. */
function stepsInSight(steps, last) {
  const first = steps.findLastIndex(({ number }) => number <= last - STEPS);
  const seen = steps.slice(Math.max(first, 0));
  if (first >= 0) seen[0] = { ...seen[0], number: last - STEPS, low: seen[0].value, high: seen[0].value };
  return seen;
}

/** A plot of one field of an attribute's values. */
export function createPlot(path, field, title) {
  const { name, unit = '' } = field;
  const text = (low, high = low) =>
    [...new Set([low, high].map((value) => numberText(field, value)))].join(' to ');
  const [line, now, cursor] = ['line', 'now', 'cursor'].map((name) => makeSVG('path', { class: name }));
  const image = makeSVG('svg', {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', tabindex: 0, role: 'slider',
    'aria-label': `${title}: ${name} over time`, 'aria-valuemin': 1 - STEPS, 'aria-valuemax': 0,
  }, line, now, cursor);
  const bounds = make('span.bounds', { 'aria-hidden': 'true' }, make('span'), make('span'));
  const words = make('output.reading', { 'aria-hidden': 'true', hidden: true });
  const element = make('div.plot', { hidden: true }, bounds, image, words);
  /** The steps in sight, the number of the newest that there could be, and the one that is read or null. */
  let [seen, last, read] = [[], 0, null];
  let span;

  element.update = (wanted, end) => {
    const steps = stepsOf(path, name, wanted);
    if (!steps) {
      element.hidden = true;
      return;
    }
    if (span !== wanted) read = null;
    span = wanted;
    last = Math.floor(end / (span / STEPS));
    seen = stepsInSight(steps, last);
    const low = Math.min(...seen.map((step) => step.low));
    const high = Math.max(...seen.map((step) => step.high));
    // One that was drawn stays, so that nothing moves under a hand.
    if (low < high) element.hidden = false;
    if (element.hidden) return;
    const y = (value) => (low < high
      ? MARGIN + (high - value) / (high - low) * (HEIGHT - 2 * MARGIN) : HEIGHT / 2).toFixed(1);
    const parts = seen.map(({ number, low, high, value }, index) =>
      `${index ? 'H' : 'M'}${x(number)} ${index ? 'V' : ''}${[low, high, value].map(y).join('V')}`);
    line.setAttribute('d', `${parts.join('')}H${END}`);
    now.setAttribute('d', `M${END} ${y(seen.at(-1).value)}h0`);
    setText(bounds.children[0], text(high));
    setText(bounds.children[1], low < high ? text(low) : '');
    drawReading(`last ${spanName(span)}: ${text(low, high)}, now ${text(seen.at(-1).value)}${unit && ` ${unit}`}`);
  };

  const x = (number) => (((number - last - 1) / STEPS + 1) * END).toFixed(1);

  function drawReading(summary) {
    if (read !== null && read < seen[0].number) read = null;
    words.hidden = read === null;
    cursor.setAttribute('d', read === null ? '' : `M${x(read)} 0V${HEIGHT}`);
    image.setAttribute('aria-valuenow', read === null ? 0 : read - last);
    if (read !== null) {
      const { low, high } = seen.findLast(({ number }) => number <= read);
      const time = eventTime({ time: read * span / STEPS * 1000 }).slice(0, 8);
      setText(words, `${text(low, high)}${unit && ` ${unit}`} at ${time}`);
      words.classList.toggle('left', x(read) < WIDTH / 2);
    }
    image.setAttribute('aria-valuetext', read === null ? summary : words.textContent);
  }

  function move(to) {
    read = to === null ? null : Math.min(Math.max(to, seen[0].number), last);
    drawPlots();
  }
  for (const type of ['pointerdown', 'pointermove']) {
    image.addEventListener(type, ({ offsetX }) =>
      move(last + Math.floor((offsetX / image.clientWidth * WIDTH / END - 1) * STEPS) + 1));
  }
  for (const type of ['pointerleave', 'blur']) image.addEventListener(type, () => move(null));
  image.addEventListener('keydown', (event) => {
    const { key } = event;
    const numbers = seen.map(({ number }) => number);
    const index = read === null ? numbers.length - 1 : numbers.findLastIndex((number) => number <= read);
    const to = { ArrowLeft: index - 1, ArrowRight: index + 1, Home: 0, End: numbers.length - 1 }[key];
    if (key === 'Escape') move(null);
    if (to === undefined) return;
    event.preventDefault();
    move(numbers[Math.min(Math.max(to, 0), numbers.length - 1)]);
  });
  return element;
}

/** The timers for new values and for the time that passes. */
let [soon, later] = [null, null];

/** Draws the plots at most ten times a second, however many values come. */
export function drawSoon() {
  soon ??= setTimeout(() => draw(drawPlots), 100);
}

function drawPlots() {
  clearTimeout(soon);
  clearTimeout(later);
  soon = null;
  const plots = document.querySelectorAll('.plot');
  const [span, end] = [Number(plotSpan.value), runTime()];
  for (const plot of plots) plot.update(span, end);
  plotSpan.hidden = ![...plots].some((plot) => !plot.hidden);
  // The time goes on while nothing happens. A tab that is not seen draws nothing.
  if (isTimeMoving() && !plotSpan.hidden) later = setTimeout(() => draw(drawPlots), 1000);
}
document.addEventListener('read', drawSoon);
