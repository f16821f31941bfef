// Elements of the page: making them, and drawing them anew. Text that comes from a device is only ever set as text.

export const $ = (id) => document.getElementById(id);

/** An element: its tag with classes after dots, properties if there are any, and children; text is text. */
export function make(tag, ...children) {
  const [name, ...classes] = tag.split('.');
  const element = document.createElement(name);
  element.className = classes.join(' ');
  if (name === 'button') element.type = 'button';
  const properties = children[0]?.constructor === Object ? children.shift() : {};
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (key in element) element[key] = value;
    else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

/** An input for text that a person writes, not a browser. */
export const textBox = (ariaLabel, more, tag = 'input') =>
  make(tag, { ariaLabel, spellcheck: false, autocomplete: 'off', ...more });

export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Gives an element a colour of the style sheet. */
export function tint(element, color) {
  element.style.setProperty('--c', `var(--${color})`);
  return element;
}

/** Shows or hides the section of a part of the device. */
export function showSection(id, isShown) {
  $(id).closest('section').hidden = !isShown;
}

/** Brings the children of an element in line with items, and keeps those whose keys are still there. */
export function keyed(parent, items, key, create, update) {
  const focused = document.activeElement;
  const keys = new Set(items.map(key));
  const there = new Map();
  for (const child of [...parent.children]) {
    // First, so that those after it are not moved.
    if (!keys.has(child.key)) child.remove();
    else there.set(child.key, child);
  }
  let next = parent.firstElementChild;
  for (const item of items) {
    let child = there.get(key(item));
    if (!child) {
      child = create(item);
      child.key = key(item);
    }
    if (child === next) next = next.nextElementSibling;
    else parent.insertBefore(child, next);
    update?.(child, item);
  }
  // An element that is moved loses the focus.
  if (focused !== document.activeElement && parent.contains(focused)) focused.focus({ preventScroll: true });
}

const due = new Set();

/** Calls a function at the next frame, once, however often it is asked for. */
export function draw(part) {
  if (due.size === 0) {
    requestAnimationFrame(() => {
      const parts = [...due];
      due.clear();
      for (const part of parts) part();
    });
  }
  due.add(part);
}
