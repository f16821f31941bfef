// The control for one field of a value: a slider, a list, a check box or a text, as the field's layout says.

import { make, textBox } from './elements.js';
import { numberOf } from './values.js';

/** The number of decimals of a step. */
const decimals = (step) => step >= 1 ? 0 : Math.min(6, Math.ceil(-Math.log10(step) - 1e-9));

/** Whether a field has one number, which may be drawn. */
export const isNumber = ({ kind, list }) => kind === 'number' && !list;

/** A number in as many decimals as the field has. */
export const numberText = ({ step }, value) =>
  step ? value.toFixed(decimals(step)) : String(Number(value.toPrecision(6)));

/** Bounds for a slider: those of the field, or of the part of them that a hand can use. */
function sliderBounds(field, value) {
  const { minimum, step, unit } = field;
  let maximum = field.shortMaximum ?? field.maximum;
  if (value > maximum) maximum = field.maximum;
  if (unit === '%' && maximum > 100 && !(value > 100)) maximum = 100;
  if ((maximum - minimum) / step <= 1000) return [minimum < 0 && unit === '%' ? 0 : minimum, maximum];
  const wanted = Math.max(Math.abs(value || 0) * 2, step * 200);
  const power = 10 ** Math.floor(Math.log10(wanted));
  const nice = [1, 2, 5, 10].map((factor) => factor * power).find((bound) => bound >= wanted);
  return [Math.max(minimum, minimum < 0 && value < 0 ? -nice : 0), Math.min(maximum, nice)];
}

/** The name of a field, which may break before its capitals. */
function breakable(name) {
  return name.split(/(?=[A-Z])/).flatMap((part, index) => index ? [make('wbr'), part] : [part]);
}

/**
 * The controls for one field. `edited` is called after each change, and with true if it is to be sent at once.
 * A value that is not there is undefined.
 */
export function createField(field, title, edited) {
  const { name, kind, unit = '', step } = field;
  const [minimum, maximum] = [field.minimum, field.maximum].map(Number);
  const label = `${title}: ${name}${unit && `, ${unit}`}`;
  // The program reads a text as in a profile.
  const number = (text) => text.trim() === '' ? undefined : numberOf(text);
  const editor = (input, get, set, ...before) => ({
    input, set, get value() { return get(); },
    // The name of a check box is clicked like the box.
    element: make(kind === 'boolean' ? 'label.field' : 'div.field', make('span.name', ...breakable(name)), ...before,
      input, make('span.unit', unit)),
  });
  const box = (more) => textBox(label, { oninput: () => edited(false), ...more });
  if (field.list) {
    const input = box({ title: 'With commas between' });
    const items = () => input.value.split(',').map((item) => item.trim()).filter(Boolean);
    return editor(input, () => kind === 'number' ? items().map(number) : items(),
      (value) => { input.value = (value ?? []).join(', '); });
  }
  if (kind === 'boolean') {
    const input = make('input', { type: 'checkbox', ariaLabel: label, onchange: () => edited(true) });
    return editor(input, () => input.checked, (value) => { input.checked = value === true; });
  }
  if (kind === 'choice') {
    const select = make('select', { ariaLabel: label, onchange: () => edited(true) });
    const add = (value, text) => select.append(make('option', { value }, text));
    field.names.forEach((word, index) => { if (word) add(index, word); });
    return editor(select, () => number(select.value), (value = '') => {
      if (![...select.options].some((option) => option.value === String(value))) add(value, value);
      select.value = value;
    });
  }
  if (kind === 'number' && (maximum - minimum) / step <= 65535) {
    const digits = decimals(step);
    const slider = make('input', { type: 'range', ariaLabel: `${label}, slider` });
    const input = box({
      type: 'number', step, min: minimum, max: maximum, onchange: () => edited(true),
      oninput: () => { fit(); edited(false); },
    });
    const fit = () => {
      const value = Number(input.value);
      if (slider.isNew !== false || value < slider.min || value > slider.max) {
        [slider.min, slider.max] = sliderBounds(field, value);
        slider.step = step;
        slider.isNew = false;
      }
      slider.value = value;
    };
    slider.addEventListener('input', () => {
      input.value = Number(slider.value).toFixed(digits);
      fit();
      edited(true);
    });
    return editor(input, () => number(input.value), (value) => {
      input.value = value === undefined || value === null ? '' : Number(value).toFixed(digits);
      fit();
    }, slider);
  }
  const input = box();
  return editor(input, () => kind === 'number' ? number(input.value) : input.value,
    (value = '') => { input.value = value; });
}
