// swift-format-ignore-file
// Made by page/embed from the files in page; edit those.
enum PageFiles {
    static let html = ##"""
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Mynah</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/page.css">
<script type="module" src="/page.js"></script>
</head>
<body>
<template id="copy-icon">
  <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
    <rect x="5.500" y="5.500" width="8" height="8" rx="1.500"/>
    <path d="M3 10.500h-.5v-8h8v.5"/>
  </svg>
</template>
<header>
  <h1><img src="/icon.svg" alt="" width="26" height="26"> Mynah</h1>
  <nav id="devices" aria-label="Devices"></nav>
  <p id="link" role="status" data-state="waiting"><span class="dot"></span><span id="link-text">Connecting</span></p>
  <form id="clock" hidden>
    <time id="now"></time>
    <input id="by" aria-label="Advance the clock by" value="10 s" autocomplete="off" spellcheck="false">
    <span id="advance"></span>
  </form>
  <span id="reset"></span>
</header>
<p id="lost" role="alert" hidden></p>
<main id="main">
  <p id="nothing" hidden>No device is played. Add one with <code>mynah ctl add PROFILE</code>.</p>
  <div class="column" id="left"></div>
  <div class="column" id="middle"></div>
  <div class="column" id="right">
    <section id="timeline" aria-label="Timeline">
      <h2>Timeline<span class="aside" id="timeline-aside"></span></h2>
      <div class="bar">
        <input id="filter" type="search" aria-label="Filter the events" placeholder="Filter, as in: notified 2A37"
          autocomplete="off" spellcheck="false">
        <label class="check"><input id="only" type="checkbox" checked> this device</label>
        <label class="check"><input id="follow" type="checkbox" checked> follow</label>
        <form id="mark">
          <input id="mark-name" aria-label="Name of a mark" placeholder="Mark" autocomplete="off">
          <span id="mark-act"></span>
        </form>
      </div>
      <div id="events" role="listbox" tabindex="0" aria-label="Events"><div id="space" role="presentation"></div></div>
      <div id="detail" hidden>
        <div class="bar">
          <strong id="detail-name"></strong>
          <span id="detail-acts"></span>
        </div>
        <pre id="detail-text" tabindex="0" aria-label="The event as JSON"></pre>
      </div>
    </section>
  </div>
</main>
<footer aria-label="Commands">
  <span id="done-count">Commands</span>
  <code id="done">The line of mynah ctl for each thing that you do appears here.</code>
  <button type="button" id="copy-done" disabled>Copy</button>
  <button type="button" id="copy-all" disabled>Copy all</button>
</footer>
<p id="toast" role="status"></p>
<p id="trouble" role="alert"></p>
</body>
</html>
"""## + "\n"
    static let css = ##"""
:root {
  color-scheme: light dark;
  --back: #f3f5f8; --panel: #fff; --raised: #f7f9fb; --line: #dfe4ea; --text: #18222e; --dim: #5c6a7a;
  --accent: #1d5fa8; --on-accent: #fff; --good: #14713f; --bad: #b3261e; --warn: #8a5300;
  --flags: #6b3fa0; --uuids: #1d5fa8; --name: #14713f; --service: #8a5300; --company: #b3261e; --other: #47586b;
  --shade: 12%;
  --mono: ui-monospace, monospace;
}

@media (prefers-color-scheme: dark) {
  :root {
    --back: #0d1218; --panel: #151c25; --raised: #1a232e; --line: #27323f; --text: #dbe3ec; --dim: #8fa0b2;
    --accent: #6fb0f0; --on-accent: #08131f; --good: #5fc78d; --bad: #f28b82; --warn: #e8b45a;
    --flags: #c3a2ee; --uuids: #7fb9f3; --name: #6fd09a; --service: #e8b45a; --company: #f28b82; --other: #a5b4c4;
    --shade: 20%;
  }
}

* { box-sizing: border-box; margin: 0; }
html { font: 13px/1.45 system-ui, sans-serif; }
body {
  grid-template-columns: minmax(0, 1fr); background: var(--back); color: var(--text); display: grid; grid-template-rows: auto auto minmax(0, 1fr) auto;
  height: 100dvh;
}
[hidden] { display: none !important; }
.away { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
code, pre, .bytes, .hex, time, .what { font-family: var(--mono); font-size: 12px; }
.dim, .unit, :empty::after { color: var(--dim); font-weight: 400; }
small { font-size: 11px; margin-left: 6px; }
.grow { flex: 1; min-width: 0; overflow-wrap: anywhere; }

header, footer { display: flex; align-items: center; gap: 12px; padding: 6px 14px; background: var(--panel); }
header { border-bottom: 1px solid var(--line); grid-row: 1; }
footer { border-top: 1px solid var(--line); grid-row: 4; color: var(--dim); }
h1 { font-size: 15px; display: flex; align-items: center; gap: 8px; }
#devices { display: flex; gap: 2px; flex: 1; min-width: 0; overflow-x: auto; padding: 3px; scrollbar-width: none; }
#devices button {
  flex: none;
  border-color: transparent; background: none; color: var(--dim); white-space: nowrap; padding: 4px 10px;
}
#devices button:hover { color: var(--text); }
#devices [aria-current] { color: var(--text); font-weight: 600; }
#link { display: flex; align-items: center; gap: 6px; color: var(--dim); white-space: nowrap; }
.dot { width: 8px; height: 8px; border-radius: 50%; background: var(--dim); }
[data-state=live] .dot { background: var(--good); }
[data-state=lost] .dot { background: var(--bad); }
[data-state=lost] { color: var(--bad) !important; }
#lost { grid-row: 2; background: color-mix(in srgb, var(--bad) 14%, var(--panel)); padding: 7px 14px; }
body:has([data-state=lost]) main { opacity: .55; }

main {
  grid-row: 3; min-height: 0; display: grid; gap: 10px; padding: 10px;
  grid-template-columns: minmax(300px, 350px) minmax(360px, 1fr) minmax(440px, 1.3fr);
}
.column { min-height: 0; overflow-y: auto; display: flex; flex-direction: column; gap: 10px; scrollbar-width: thin; }
.empty .column:not(#right), .empty #reset { display: none; }
main:has(> #nothing:not([hidden])) { grid-template-rows: auto minmax(0, 1fr); }
.empty #right { grid-column: 1 / -1; }
#nothing { grid-column: 1 / -1; padding: 24px; text-align: center; color: var(--dim); }
section {
  background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: 9px 12px 11px;
}
h2 { font-size: 12px; display: flex; align-items: center; gap: 8px; min-height: 24px; margin-bottom: 4px; }
h3 { font-size: 12px; font-weight: 600; display: flex; gap: 8px; align-items: baseline; margin: 10px 0 3px; }
.aside { margin-left: auto; color: var(--dim); font-weight: 400; display: flex; align-items: center; gap: 6px; font-size: 12px; }

button, input, select {
  font: inherit; color: inherit; background: var(--raised); border: 1px solid var(--line); border-radius: 5px;
  padding: 2px 8px; min-height: 25px; min-width: 0;
}
input[type=checkbox] { min-height: 0; accent-color: var(--accent); width: 14px; height: 14px; margin: 0; }
button { cursor: pointer; }
button:hover:not(:disabled) { border-color: var(--dim); }
button:disabled { opacity: .5; cursor: default; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
input::placeholder { color: var(--dim); opacity: .8; }

.act { display: inline-flex; }
.act > button:first-child { border-radius: 5px 0 0 5px; }
.act > .copy { border-radius: 0 5px 5px 0; border-left: 0; background: var(--raised); border-color: var(--line); }
.copy { padding: 0; width: 24px; display: inline-grid; place-items: center; color: var(--dim); background: none; border-color: transparent; flex: none; }
.icon { width: 14px; height: 14px; fill: none; stroke: currentColor; stroke-width: 1.300; stroke-linejoin: round; }
.acts { display: flex; flex-wrap: wrap; gap: 6px; }
summary { color: var(--dim); margin: 6px 0; }
.states [aria-pressed=true] { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
.line { display: flex; align-items: center; gap: 8px; min-height: 28px; }
#faults .on .grow { font-weight: 600; }
#centrals:empty::after { content: "No central is connected."; }
#attributes:empty::after { content: "This device has no attributes."; }
.count { color: var(--warn); font-variant-numeric: tabular-nums; }
.line > input { flex: 0 1 130px; }
.chips { display: inline-flex; flex-wrap: wrap; gap: 4px; }
.chip { font-size: 11px; line-height: 17px; padding: 0 6px; border-radius: 9px; background: var(--raised); border: 1px solid var(--line); color: var(--dim); white-space: nowrap; }
.chip.good { color: var(--good); border-color: currentColor; }

.switch { width: 32px; min-width: 32px; height: 18px; min-height: 18px; padding: 0; border-radius: 9px; position: relative; background: var(--line); flex: none; }
.switch::after { content: ""; position: absolute; top: 2px; left: 2px; width: 12px; height: 12px; border-radius: 50%; background: var(--panel); box-shadow: 0 0 0 1px var(--dim); }
.switch[aria-checked=true] { background: var(--accent); border-color: var(--accent); }
.switch[aria-checked=true]::after { left: 16px; box-shadow: none; }

.bytes { line-height: 1.9; overflow-wrap: anywhere; }
.ad { padding: 2px 5px; border-radius: 4px; box-decoration-break: clone; }
.ad i { font-style: normal; color: var(--dim); }
.ad b { color: var(--c); }
.ads { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 1px 10px; margin-top: 4px; }
.ads dt { color: var(--c); }
.ads dd { overflow-wrap: anywhere; }
#air u { text-decoration-thickness: 2px; text-underline-offset: 2px; color: var(--c); }
.chips:empty { display: none; }
.set > .chips { margin: 3px 0 2px; }
.set > .line:not([hidden]) { margin-top: 6px; }
.set + .set { border-top: 1px solid var(--line); margin-top: 8px; }
.set > .line .grow { font-weight: 600; }
.set .count { color: var(--dim); font-family: var(--mono); font-size: 11px; }
.packet > h3 { margin-top: 6px; }
.omitted { padding-left: 16px; color: var(--dim); }
.omitted b { color: var(--warn); font-weight: 600; }
.central { display: grid; gap: 4px; padding: 6px 0 8px; }
.central + .central { border-top: 1px solid var(--line); }

.service > h3 { margin: 12px 0 2px; color: var(--accent); }
.service > h3 code { overflow-wrap: anywhere; }
.attribute { padding: 5px 0 8px 10px; border-left: 2px solid var(--line); }
.attribute + .attribute { border-top: 1px solid var(--line); }
.attribute.edited { border-left-color: var(--accent); }
.attribute.absent { opacity: .6; }
.descriptor { margin-left: 16px; }
.attribute > .line { flex-wrap: wrap; }
.attribute > .line > .grow { flex-basis: 140px; }
.handle { min-width: 30px; margin-left: auto; text-align: right; }
.fields { display: grid; gap: 3px; margin: 2px 0 5px; }
.field { display: grid; grid-template-columns: minmax(84px, 132px) minmax(56px, 1fr) 84px 42px; align-items: center; gap: 2px 8px; }
.field > .name { overflow-wrap: anywhere; color: var(--dim); line-height: 1.2; }
.field > input:not([type=range], [type=number], [type=checkbox]), .field > select { grid-column: 2 / 4; }
.field > .unit { grid-column: 4; font-size: 12px; }
.unit:empty { display: none; }
label.field { grid-template-columns: 18px minmax(0, 1fr); cursor: pointer; }
label.field > input { order: -1; }
.field:has(.unit:empty) > :is(select, input:not([type])) { grid-column-end: -1 !important; }
.field:has(.unit:empty) > [type=number] { grid-column: 3 / -1; }
.field > [type=number] { text-align: right; font-variant-numeric: tabular-nums; padding-right: 2px; }
.plot { grid-column: 1 / -1; display: grid; position: relative; grid-template-columns: subgrid; height: 44px; margin-bottom: 4px; }
.bounds { display: flex; flex-direction: column; justify-content: space-between; text-align: right; color: var(--dim); font-size: 11px; line-height: 1.2; font-variant-numeric: tabular-nums; }
.plot > svg { grid-column: 2 / -1; width: 100%; height: 44px; border-radius: 4px; background: var(--raised); border: 1px solid var(--line); cursor: crosshair; touch-action: pan-y; }
.plot path { fill: none; stroke: var(--accent); stroke-width: 1.500; stroke-linejoin: round; vector-effect: non-scaling-stroke; }
.plot .now { stroke-width: 5; stroke-linecap: round; }
.plot .cursor { stroke: var(--dim); stroke-width: 1; }
.reading { position: absolute; top: 3px; left: 146px; padding: 0 5px; border-radius: 3px; background: var(--panel); border: 1px solid var(--line); font-size: 11px; pointer-events: none; }
.reading.left { left: auto; right: 6px; }
h2 > select { min-height: 22px; padding: 0 4px; font-weight: 400; color: var(--dim); margin-left: auto; }
h2 > select:not([hidden]) + .aside { margin-left: 0; }
.raw .hex { flex: 1 1 110px; }
.raw .text { flex: 1 1 90px; }

[type=range] { accent-color: var(--accent); border: 0; padding: 0; height: 22px; width: 100%; cursor: pointer; }

#right { overflow: hidden; }
#timeline { flex: 1; min-height: 0; display: flex; flex-direction: column; padding-bottom: 0; }
.bar { display: flex; flex-wrap: wrap; align-items: center; gap: 8px; margin-bottom: 7px; }
.bar > #filter { flex: 1 1 150px; }
.check { display: inline-flex; align-items: center; gap: 5px; color: var(--dim); white-space: nowrap; }
#mark, #clock:not([hidden]) { display: inline-flex; align-items: center; gap: 6px; }
#now { white-space: nowrap; }
#by { width: 70px; }
#mark-name { width: 100px; }
#events { flex: 1; min-height: 160px; overflow-y: auto; position: relative; margin: 0 -12px; border-top: 1px solid var(--line); scrollbar-width: thin; contain: strict; }
#events:focus-visible { outline-offset: -2px; }
#space { position: relative; overflow: hidden; }
.row {
  position: absolute; inset: 0 0 auto; height: 22px; padding: 0 12px; display: grid; align-items: center; gap: 10px;
  grid-template-columns: 86px 150px minmax(0, 1fr); white-space: nowrap; cursor: default; contain: strict;
}
.many .row { grid-template-columns: 86px 150px 96px minmax(0, 1fr); }
.row > * { overflow: hidden; text-overflow: ellipsis; }
.row .who { display: none; color: var(--dim); }
.many .row .who { display: block; }
.row time { color: var(--dim); font-size: 11px; }
.row .what { color: var(--c, var(--text)); }
.row:hover { background: var(--raised); }
.row.mark, .many .row.mark { grid-template-columns: 1fr; }
#devices [aria-current], .ad, .row[aria-selected=true], .row.mark {
  background: color-mix(in srgb, var(--c, var(--accent)) var(--shade), transparent);
}
.row.mark > :not(.what) { display: none; }
.row.mark .what { font-weight: 600; }
#detail { border-top: 1px solid var(--line); margin: 0 -12px; padding: 8px 12px; }
#detail .bar { justify-content: space-between; margin: 0 0 4px; }
#detail-acts { display: flex; gap: 6px; }
#detail pre { max-height: 170px; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; }

#done { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
#toast:not(:empty), #trouble:not(:empty) {
  position: fixed; left: 50%; bottom: 52px; transform: translateX(-50%); max-width: min(720px, 92vw); padding: 7px 14px;
  border-radius: 7px; background: var(--text); color: var(--back); box-shadow: 0 4px 16px #0004; overflow-wrap: anywhere; z-index: 2;
}
#trouble:not(:empty) { bottom: 92px; background: var(--bad); color: var(--panel); }

@media (max-width: 1240px) {
  body { height: auto; min-height: 100dvh; }
  main { grid-template-columns: minmax(280px, 350px) minmax(0, 1fr); place-content: start stretch; align-items: start; }
  .column { overflow: visible; }
  #right { grid-column: 1 / -1; }
  #timeline { height: 480px; flex: none; }
  footer { position: sticky; bottom: 0; }
}
@media (max-width: 760px) {
  header { flex-wrap: wrap; }
  #devices { order: 1; flex-basis: 100%; }
  #link { margin-left: auto; }
  #clock { flex-wrap: wrap; }
  main { grid-template-columns: minmax(0, 1fr); padding: 8px; }
  .field { grid-template-columns: minmax(70px, 104px) minmax(48px, 1fr) 76px 34px; }
  .reading { left: 118px; }
  .row, .many .row { grid-template-columns: 64px 116px minmax(0, 1fr); gap: 8px; }
  .row time { direction: rtl; text-overflow: clip; }
  .many .row .who { display: none; }
  button, input, select { min-height: 30px; }
  .switch { min-height: 18px; }
}
"""## + "\n"
    static let icon = ##"""
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
  <rect width="32" height="32" rx="7" fill="#16324f"/>
  <path d="M5 21c2-8 7-12 13-12 4 0 6 2 7 4l4 1-4 3c0 6-5 9-10 9-3 0-5-1-6-3l-4 1 2-4z" fill="#f4f7fb"/>
  <path d="M25 13l4 1-4 3z" fill="#f5a524"/>
  <circle cx="21.500" cy="13.500" r="1.500" fill="#16324f"/>
</svg>
"""## + "\n"
    static let js = [
        ElementsScript.code,
        ValuesScript.code,
        RequestsScript.code,
        StateScript.code,
        CommandsScript.code,
        AdvertisingScript.code,
        CentralsScript.code,
        AppScript.code,
        FaultsScript.code,
        ScenariosScript.code,
        VariablesScript.code,
        FieldsScript.code,
        EventsScript.code,
        JournalScript.code,
        SeriesScript.code,
        PlotsScript.code,
        AttributesScript.code,
        DeviceScript.code,
        StreamScript.code,
        MainScript.code,
    ].joined()
}

extension PageFiles {
enum ElementsScript {
    static let code = ##"""
const $ = (id) => document.getElementById(id);
function make(tag, ...children) {
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
const textBox = (ariaLabel, more, tag = 'input') =>
  make(tag, { ariaLabel, spellcheck: false, autocomplete: 'off', ...more });
function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
function tint(element, color) {
  element.style.setProperty('--c', `var(--${color})`);
  return element;
}
function showSection(id, isShown) {
  $(id).closest('section').hidden = !isShown;
}
function keyed(parent, items, key, create, update) {
  const focused = document.activeElement;
  const keys = new Set(items.map(key));
  const there = new Map();
  for (const child of [...parent.children]) {
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
  if (focused !== document.activeElement && parent.contains(focused)) focused.focus({ preventScroll: true });
}
const due = new Set();
function draw(part) {
  if (due.size === 0) {
    requestAnimationFrame(() => {
      const parts = [...due];
      due.clear();
      for (const part of parts) part();
    });
  }
  due.add(part);
}
"""## + "\n"
}
}

extension PageFiles {
enum ValuesScript {
    static let code = ##"""
const isRounded = (text) =>
  /^\s*([-+]?\d+|0x[\da-f]+)\s*$/i.test(text) && !Number.isSafeInteger(Number(text));
const numberOf = (text) =>
  isNaN(text) || !text.trim() ? text : isRounded(text) ? BigInt(text) : Number(text);
const parseJSON = (text) => JSON.parse(text, (key, value, context) =>
  typeof value === 'number' && isRounded(context?.source) ? BigInt(context.source) : value);
BigInt.prototype.toJSON = function () { return JSON.rawJSON?.(`${this}`) ?? `${this}`; };
const spaced = (hex) => hex.replace(/(..)(?=.)/g, '$1 ');
function printable(hex) {
  const bytes = (hex.match(/../g) ?? []).map((byte) => parseInt(byte, 16));
  return bytes.length > 1 && bytes.every((byte) => byte >= 0x20 && byte < 0x7f)
    ? String.fromCharCode(...bytes) : '';
}
"""## + "\n"
}
}

extension PageFiles {
enum RequestsScript {
    static let code = ##"""
async function request(method, path, body) {
  const options = { method };
  if (body !== undefined) {
    options.headers = { 'Content-Type': 'application/json' };
    options.body = JSON.stringify(body);
  }
  return readAnswer(await fetch(path, options));
}
async function readAnswer(response) {
  const { ok, status } = response;
  const answer = await response.text().then(parseJSON).catch(() => null);
  if (!ok) throw Object.assign(new Error(answer?.detail ?? `status ${status}`), { status });
  return answer;
}
const ends = {};
function say(text, id = 'toast') {
  $(id).textContent = text;
  clearTimeout(ends[id]);
  ends[id] = setTimeout(() => { $(id).textContent = ''; }, 6000);
}
async function copyText(text) {
  try {
    if (!navigator.clipboard) throw new Error();
    await navigator.clipboard.writeText(text);
  } catch {
    const focused = document.activeElement;
    const area = make('textarea.away', { value: text, 'aria-hidden': 'true' });
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
    focused?.focus();
  }
  say(`Copied: ${text}`);
}
"""## + "\n"
}
}

extension PageFiles {
enum StateScript {
    static let code = ##"""
const state = {
  devices: [], device: null,
  snapshot: null, layouts: new Map(), areLayoutsOld: true,
  instance: null, words: null,
  isLive: false,
};
const devicePath = (...rest) => '/v1/devices/' + [state.device, ...rest].map(encodeURIComponent).join('/');
let isReading = false;
let isStale = false;
function refresh() {
  isStale = true;
  if (!isReading) readState();
}
async function readState() {
  isReading = true;
  while (isStale) {
    isStale = false;
    try {
      await readProgram();
      if (state.device !== null) await readDevice();
    } catch {
    }
    draw(tellRead);
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
  isReading = false;
}
const tellRead = () => document.dispatchEvent(new Event('read'));
async function readProgram() {
  state.instance = await request('GET', '/v1');
  state.devices = state.instance.devices;
  state.words ??= (await request('GET', '/v1/openapi.json')).paths['/v1/devices/{device}/app']
    .post.requestBody.content['application/json'].schema.properties.state.enum;
  if (!state.devices.includes(state.device)) choose(state.devices[0] ?? null);
}
let missing;
async function readDevice() {
  const { device } = state;
  let snapshot = null;
  try {
    snapshot = await request('GET', devicePath());
  } catch (error) {
    if (error.status !== 404 && error.status !== 405) throw error;
    if (missing !== device) say(`${device} cannot be shown: ${error.message}`, 'trouble');
    missing = device;
  }
  let { layouts } = state;
  if (snapshot && (state.areLayoutsOld || !snapshot.attributes.every(({ path }) => layouts.has(path)))) {
    state.areLayoutsOld = false;
    const answer = await request('GET', devicePath('layout'));
    layouts = new Map(answer.attributes.map((attribute) => [attribute.path, attribute]));
  }
  if (device !== state.device) return;
  if (JSON.stringify([...layouts]) !== JSON.stringify([...state.layouts])) state.layouts = layouts;
  state.snapshot = snapshot;
}
function choose(device) {
  if (device === state.device) return;
  Object.assign(state, { device, snapshot: null, layouts: new Map() });
  if (device !== null) history.replaceState(null, '', '#' + encodeURIComponent(device));
  document.dispatchEvent(new Event('chosen'));
  refresh();
  draw(tellRead);
}
const attributeName = (path) => state.layouts.get(path)?.names.at(-1) ?? path;
function uuidName(uuid) {
  for (const [path, { names }] of state.layouts) {
    const index = path.split('/').indexOf(uuid);
    if (index >= 0) return names[index];
  }
  return uuid;
}
const isOurs = ({ device }) =>
  device === undefined || device === state.device || device.split(', ').includes(state.device);
const eventPath = (event) =>
  event.path ?? [event.service, event.characteristic, event.descriptor].filter(Boolean).join('/');
"""## + "\n"
}
}

extension PageFiles {
enum CommandsScript {
    static let code = ##"""
const done = [];
function quote(word) {
  return /^[\w@%+=:,./-][\w@%+=:,./~-]*$/.test(word) ? word : `'${String(word).replaceAll("'", "'\\''")}'`;
}
const access = ['--control', location.origin];
fetch('/v1', { credentials: 'omit' }).then(({ ok }) => {
  if (!ok) access.push('--control-token-file', 'TOKEN-FILE');
}, () => {});
function ctlLine([verb, ...words]) {
  const values = words.filter((word) => !Array.isArray(word)).map(String);
  if (values.some((word) => word.startsWith('-'))) values.unshift('--');
  const options = words.filter(Array.isArray).flat();
  return ['mynah ctl', verb, ...[...options, ...access, ...values].map(quote)].join(' ');
}
async function perform(words, ...what) {
  const text = ctlLine(words);
  try {
    const answer = await request(...what);
    noteDone(text);
    return answer;
  } catch (error) {
    say(error.message, 'trouble');
    return null;
  } finally {
    refresh();
  }
}
function noteDone(text) {
  const [begin, last] = [text, done.at(-1)].map((text) => text?.replace(/'{[^']*}'$/, ''));
  if (begin !== text && begin === last) done.pop();
  done.push(text);
  draw(drawDone);
}
function drawDone() {
  $('done').textContent = done.at(-1);
  $('done-count').textContent = `Commands: ${done.length}`;
  $('copy-done').disabled = $('copy-all').disabled = false;
}
$('copy-done').addEventListener('click', () => copyText(done.at(-1)));
$('copy-all').addEventListener('click', () => copyText(done.join('\n')));
function copyButton(what, words, text = () => ctlLine(words())) {
  const label = `Copy the mynah ctl line: ${what}`;
  return make('button.copy', { title: label, ariaLabel: label, onclick: () => copyText(text()) },
    $('copy-icon').content.cloneNode(true));
}
function act(label, what, words, run) {
  return make('span.act', make('button', { ariaLabel: what, title: what, onclick: run }, label),
    copyButton(what, words));
}
const command = (label, what, words, ...sent) =>
  act(label, what, () => words, () => perform(words, ...sent));
function switchLine(label, words, run) {
  const toggle = make('button.switch', { role: 'switch', ariaLabel: label, onclick: run });
  const text = make('span.grow');
  const note = make('span.count');
  const element = make('div.line', toggle, text, note, copyButton(`${label} on or off`, words));
  element.state = (isOn, words, more = '') => {
    toggle.ariaChecked = isOn;
    element.classList.toggle('on', isOn);
    setText(text, words);
    setText(note, more);
  };
  return element;
}
"""## + "\n"
}
}

extension PageFiles {
enum AdvertisingScript {
    static let code = ##"""
const AD_TYPES = {
  1: ['flags'], 2: ['uuids', 'Some services'], 3: ['uuids', 'Services'], 4: ['uuids'], 5: ['uuids'],
  6: ['uuids', 'Some services'], 7: ['uuids', 'Services'], 8: ['name', 'Short name'], 9: ['name', 'Name'],
  10: ['other', 'TX power'], 22: ['service', 'Service data'], 32: ['service', 'Service data'],
  33: ['service', 'Service data'], 255: ['company', 'Manufacturer'],
};
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
function drawAir({ advertising, address, radio, state: radioState }) {
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
  advertising.all = [advertising, ...advertising.sets ?? []].filter(({ set }, _, { length }) => length === 1 || set);
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
"""## + "\n"
}
}

extension PageFiles {
enum CentralsScript {
    static let code = ##"""
function limitWords({ centrals, mtu, keySize }) {
  return [
    centrals && `Takes ${centrals} central${centrals === 1 ? '' : 's'}: then no other phone finds it.`,
    mtu && `Offers an ATT_MTU of at most ${mtu}, which sends ${mtu - 3} bytes at once.`,
    keySize && `Encrypts with keys of at most ${keySize} octets.`,
  ].filter(Boolean).join(' ');
}
const limitText = make('p.dim');
function drawCentrals({ centrals, limits = {} }) {
  const count = limits.centrals ? `${centrals.length} of ${limits.centrals}` : centrals.length;
  setText($('centrals-aside'), centrals.length || limits.centrals ? `${count} connected` : '');
  setText(limitText, limitWords(limits));
  if (!limitText.parentNode) $('centrals').before(limitText);
  keyed($('centrals'), centrals, ({ central }) => central, ({ central }) => {
    const button = (verb, label, what) =>
      command(label, what, [verb, state.device, central], 'POST', devicePath(verb), { central });
    return make('div.central',
      make('code', central), make('p.chips'), make('p.dim'),
      make('p.acts',
        button('disconnect', 'Disconnect', `Disconnect ${central}`),
        button('forget', 'Forget bond', `Forget the bond of ${central}`)));
  }, (element, { mtu, encrypted, bonded, subscriptions = [] }) => {
    const chips = [
      mtu && `MTU ${mtu}`,
      encrypted === true ? 'encrypted' : encrypted === false ? 'not encrypted' : '',
      bonded ? 'bonded' : 'no bond',
    ].filter(Boolean);
    keyed(element.children[1], chips, (text) => text, (text) => make('span', {
      className: /^(encrypted|bonded)$/.test(text) ? 'chip good' : 'chip',
    }, text));
    const names = subscriptions.map(attributeName);
    setText(element.children[2], names.length ? `subscribed to ${names.join(', ')}` : 'no subscription');
  });
}
"""## + "\n"
}
}

extension PageFiles {
enum AppScript {
    static let code = ##"""
function drawApp({ app }) {
  showSection('app', app !== null);
  if (!app) return;
  setText($('app-aside'), app.state);
  const parent = $('app');
  if (!parent.firstChild) {
    const spans = state.words.map((word) => {
      const label = word.replace(/[A-Z]/g, (letter) => ' ' + letter.toLowerCase());
      const span = command(label, `App: ${label}`, ['app', state.device, word], 'POST', devicePath('app'),
        { state: word });
      span.word = word;
      return span;
    });
    parent.append(make('p.acts.states', ...spans.splice(0, 7)),
      make('details', make('summary', 'More'), make('p.acts.states', ...spans)));
  }
  for (const { word, firstChild } of parent.querySelectorAll('.act')) {
    const isOn = word === app.state || app.authorization.startsWith(word);
    if (isOn || firstChild.ariaPressed) firstChild.ariaPressed = isOn;
  }
}
"""## + "\n"
}
}

extension PageFiles {
enum FaultsScript {
    static let code = ##"""
function drawFaults({ faults }) {
  showSection('faults', faults.length > 0);
  const on = faults.filter(({ off }) => !off).length;
  setText($('faults-aside'), on ? `${on} on` : 'all off');
  keyed($('faults'), faults, ({ name }) => name, ({ name }) => {
    const isOff = () => state.snapshot.faults.find((fault) => fault.name === name)?.off;
    const words = () => ['fault', state.device, name, isOff() ? 'on' : 'off'];
    return switchLine(`Fault ${name}`, words,
      () => perform(words(), 'PATCH', devicePath('faults', name), { off: !isOff() }));
  }, (element, { name, off, applied }) => element.state(!off, name, applied ? `${applied} ×` : ''));
}
"""## + "\n"
}
}

extension PageFiles {
enum ScenariosScript {
    static let code = ##"""
const scenarioEnds = new Map();
function noteScenarioEnd(event) {
  if (event.event === 'scenario.ended') scenarioEnds.set(`${event.device}/${event.scenario}`, event);
}
function drawScenarios({ scenarios }) {
  showSection('scenarios', scenarios.length > 0);
  keyed($('scenarios'), scenarios, ({ name }) => name, ({ name }) => make('div.line',
    make('span.grow', name, make('small.dim')),
    command('Play', `Play the scenario ${name}`, ['scenario', state.device, name], 'POST',
      devicePath('scenarios', name), {})),
  (element, { name, playing }) => {
    const end = scenarioEnds.get(`${state.device}/${name}`);
    const text = playing ? 'is played' : end ? `${end.result}${end.message ? ': ' + end.message : ''}` : '';
    setText(element.querySelector('small'), text);
    element.querySelector('.act button').disabled = playing;
  });
}
"""## + "\n"
}
}

extension PageFiles {
enum VariablesScript {
    static let code = ##"""
function drawVariables({ variables }) {
  const items = Object.entries(variables);
  showSection('variables', items.length > 0);
  keyed($('variables'), items, ([name]) => name, ([name]) => {
    const input = textBox(`Variable ${name}`);
    const isText = () => typeof state.snapshot.variables[name] === 'string';
    const value = () => isText() ? input.value : numberOf(input.value);
    const words = () => ['variable', state.device, name, input.value, isText() ? ['--text'] : []];
    const send = () => perform(words(), 'PUT', devicePath('variables', name), { value: value() });
    input.addEventListener('keydown', ({ key }) => {
      if (key === 'Enter') send();
      if (key === 'Escape') input.value = state.snapshot.variables[name];
    });
    return make('div.line', make('span.grow', name), input,
      act('Set', `Set the variable ${name}`, words, send));
  }, (element, [, value]) => {
    const input = element.children[1];
    if (input !== document.activeElement) input.value = value;
  });
}
"""## + "\n"
}
}

extension PageFiles {
enum FieldsScript {
    static let code = ##"""
const decimals = (step) => step >= 1 ? 0 : Math.min(6, Math.ceil(-Math.log10(step) - 1e-9));
const isNumber = ({ kind, list }) => kind === 'number' && !list;
const numberText = ({ step }, value) =>
  step ? value.toFixed(decimals(step)) : String(Number(value.toPrecision(6)));
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
function breakable(name) {
  return name.split(/(?=[A-Z])/).flatMap((part, index) => index ? [make('wbr'), part] : [part]);
}
function createField(field, title, edited) {
  const { name, kind, unit = '', step } = field;
  const [minimum, maximum] = [field.minimum, field.maximum].map(Number);
  const label = `${title}: ${name}${unit && `, ${unit}`}`;
  const number = (text) => text.trim() === '' ? undefined : numberOf(text);
  const editor = (input, get, set, ...before) => ({
    input, set, get value() { return get(); },
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
"""## + "\n"
}
}

extension PageFiles {
enum EventsScript {
    static let code = ##"""
const COLORS = [
  [/^(error|warning|fault\.|request\.(refused|unanswered)|radio\.lost)/, 'bad'],
  [/^(central|mtu|paired|pairing|link|peripheral)/, 'name'], [/^(read|value\.read)$/, 'uuids'],
  [/^(write|value\.written|request\.asked)$/, 'flags'], [/^(notified|confirmed|value\.updated)$/, 'other'],
  [/ubscribed$|^(notification|app\.|alert|scenario)/, 'service'], [/^(advertising|scan|radio)/, 'dim'],
];
const eventColor = (name) => COLORS.find(([pattern]) => pattern.test(name))?.[1] ?? 'text';
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
function eventDetail(event) {
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
function eventTime({ time }) {
  if (!time) return '';
  const date = new Date(time);
  if ((state.instance?.clock ?? 'real') !== 'real') return date.toISOString().slice(11, 23);
  return `${date.toTimeString().slice(0, 8)}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}
"""## + "\n"
}
}

extension PageFiles {
enum JournalScript {
    static let code = ##"""
const KEPT = 10000;
const ROW = 22;
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
function addRows(added) {
  for (const row of added) row.number = ++lastNumber;
  rows.push(...added);
  for (const row of added) if (isShown(row)) shown.push(row);
  if (rows.length > KEPT) {
    rows.splice(0, rows.length - KEPT);
    const { length } = shown;
    shown = shown.filter(({ number }) => number >= rows[0].number);
    if (!isFollowing) $('events').scrollTop -= (length - shown.length) * ROW;
  }
  draw(drawTimeline);
}
function keptEvents() {
  const start = rows.findLastIndex(({ isStart }) => isStart);
  return rows.slice(start + 1).flatMap(({ event }) => event ?? []);
}
function insertMarks(marks) {
  for (const row of marks) {
    const before = rows.findLastIndex(({ event }) => !event?.seq || event.seq < row.seq);
    row.number = (rows[before]?.number ?? 0) + 0.5;
    rows.splice(before + 1, 0, row);
  }
  selectRows();
}
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
function waitWords() {
  const { event } = selected;
  const match = ['device', 'value'].filter((key) => event[key] !== undefined && !event.offset)
    .map((key) => `${key}=${event[key]}`);
  const name = eventPath(event);
  return ['wait', event.event, ...match, ...(name ? [`of=${name}`] : [])];
}
function eventsLine() {
  const searched = $('filter').value.trim().split(/\s+/).filter(Boolean);
  const name = searched.find((word) => rows.some((row) => row.event?.event === word));
  const match = name ? [name, ...($('only').checked ? [`device=${state.device}`] : [])] : [];
  const greps = searched.filter((word) => word !== name).map((word) => ` | grep -iF -e ${quote(word)}`);
  return ctlLine(['events', ...match, ['--since', '1']]) + greps.join('');
}
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
"""## + "\n"
}
}

extension PageFiles {
enum SeriesScript {
    static let code = ##"""
const SPANS = [120, 600, 3600];
const STEPS = 240;
let series = new Map();
let newest = -Infinity;
let newestAt = 0;
const isTimeMoving = () => state.isLive && state.instance?.clock === 'real';
const runTime = () => newest + (isTimeMoving() ? (performance.now() - newestAt) / 1000 : 0);
function noteTime(text) {
  const time = Date.parse(text) / 1000;
  if (!(time > runTime())) return;
  newest = time;
  newestAt = performance.now();
}
const keyOf = (path, field) => `${path} ${field}`;
const stepsOf = (path, field, span) => series.get(keyOf(path, field))?.[span];
function addValue(key, time, value) {
  if (!series.has(key)) series.set(key, Object.fromEntries(SPANS.map((span) => [span, []])));
  for (const [span, steps] of Object.entries(series.get(key))) {
    const number = Math.floor(time / (span / STEPS));
    const index = steps.findLastIndex((step) => step.number <= number);
    const step = steps[index];
    if (step?.number === number) {
      Object.assign(step, { low: Math.min(step.low, value), high: Math.max(step.high, value), value });
    } else {
      steps.splice(index + 1, 0, { number, low: value, high: value, value });
    }
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
const hasValue = (event) => (event.event === 'notified' || event.event === 'read') && isOurs(event)
  && !event.offset && !event.error && event.value !== undefined;
function noteEvent(event) {
  if (event.time) noteTime(event.time);
  if (event.time && hasValue(event)) addFields(eventPath(event), Date.parse(event.time) / 1000, event.fields);
}
function noteReading() {
  if (!state.snapshot || !state.instance) return;
  noteTime(state.instance.now);
  const time = Date.parse(state.instance.now) / 1000;
  const isNewer = (last, value) =>
    !last || (last.value !== value && last.number <= Math.floor(time / (SPANS[0] / STEPS)));
  for (const { path, fields } of state.snapshot.attributes) addFields(path, time, fields, isNewer);
}
function clearSeries() {
  series = new Map();
  newest = -Infinity;
}
document.addEventListener('read', noteReading);
document.addEventListener('chosen', () => {
  clearSeries();
  for (const event of keptEvents()) noteEvent(event);
});
"""## + "\n"
}
}

extension PageFiles {
enum PlotsScript {
    static let code = ##"""
const [WIDTH, HEIGHT, MARGIN] = [1000, 100, 6];
const END = 985;
const spanName = (span) => span < 3600 ? `${span / 60} min` : `${span / 3600} h`;
const plotSpan =
  make('select', { id: 'span', ariaLabel: 'Time of the plots', hidden: true, onchange: drawSoon });
for (const span of SPANS) plotSpan.append(make('option', { value: span }, `last ${spanName(span)}`));
function makeSVG(tag, properties, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [key, value] of Object.entries(properties)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}
function stepsInSight(steps, last) {
  const first = steps.findLastIndex(({ number }) => number <= last - STEPS);
  const seen = steps.slice(Math.max(first, 0));
  if (first >= 0) seen[0] = { ...seen[0], number: last - STEPS, low: seen[0].value, high: seen[0].value };
  return seen;
}
function createPlot(path, field, title) {
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
let [soon, later] = [null, null];
function drawSoon() {
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
  if (isTimeMoving() && !plotSpan.hidden) later = setTimeout(() => draw(drawPlots), 1000);
}
document.addEventListener('read', drawSoon);
"""## + "\n"
}
}

extension PageFiles {
enum AttributesScript {
    static let code = ##"""
let madeFor;
function drawAttributes({ attributes }) {
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
function showValue(event) {
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
  function fill(isForced) {
    const { value, fields } = latest;
    if (isForced || hex !== document.activeElement) hex.value = spaced(value ?? '');
    if (isForced || text !== document.activeElement) text.value = printable(value ?? '');
    hex.placeholder = value === undefined ? 'no value while the app does not run' : 'empty';
    drawFields(fields ?? (value ? null : {}), isForced);
    text.hidden = editors.size > 0;
  }
  return element;
}
"""## + "\n"
}
}

extension PageFiles {
enum DeviceScript {
    static let code = ##"""
const SECTIONS = {
  Air: drawAir, Centrals: drawCentrals, App: drawApp, Faults: drawFaults, Scenarios: drawScenarios,
  Variables: drawVariables, Attributes: drawAttributes,
};
for (const title in SECTIONS) {
  const id = title.toLowerCase();
  $(id === 'attributes' ? 'middle' : 'left').append(
    make('section', { ariaLabel: title, hidden: /^(App|[FSV])/.test(title) },
      make('h2', title, make('span.aside', { id: `${id}-aside` })), make('div', { id })));
}
$('attributes-aside').before(plotSpan);
document.addEventListener('chosen', () => {
  for (const title in SECTIONS) $(title.toLowerCase()).replaceChildren();
});
document.addEventListener('read', () => {
  const { device, devices, instance, snapshot } = state;
  drawDevices();
  $('nothing').hidden = devices.length > 0 || !instance;
  $('clock').hidden = instance?.clock !== 'manual';
  setText($('now'), instance?.now ?? '');
  document.body.classList.toggle('empty', devices.length === 0);
  document.title = device === null ? 'Mynah' : `${device} – Mynah`;
  if (snapshot) for (const part of Object.values(SECTIONS)) part(snapshot);
});
function drawDevices() {
  const nav = $('devices');
  if (state.devices.length > 6) {
    let select = nav.querySelector('select');
    if (!select) {
      select = make('select', { ariaLabel: 'Device', onchange: () => choose(select.value) });
      nav.replaceChildren(select);
    }
    keyed(select, state.devices, (name) => name, (name) => make('option', { value: name }, name));
    select.value = state.device;
    return;
  }
  if (nav.querySelector('select')) nav.replaceChildren();
  keyed(nav, state.devices, (name) => name,
    (name) => make('button', { onclick: () => choose(name) }, name),
    (button, name) => {
      button.ariaCurrent = name === state.device ? 'true' : null;
    });
}
"""## + "\n"
}
}

extension PageFiles {
enum StreamScript {
    static let code = ##"""
const CHANGES =
  /^(central|mtu|advertising|app|fault|scenario|state|radio|link|services)\.|^(paired|ready|write)$|ubscribed$/;
let lastID = null;
let first = 1;
let next = 1;
let marks = [];
let lastMark;
async function readMarks() {
  const { cases } = await request('GET', '/v1/report');
  const known = cases.findLastIndex(({ name, seq }) => name === lastMark?.name && seq === lastMark.seq);
  lastMark = cases.at(-1);
  const added = cases.slice(known + 1).filter(({ seq }) => seq >= first);
  marks.push(...added.map(({ name, seq }) => ({ mark: name, seq })));
  insertMarks(passMarks(next));
}
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
    if (blocks.includes(': changed')) {
      state.areLayoutsOld = true;
      refresh();
      await readMarks();
    }
  }
  clearTimeout(watch);
}
async function stayConnected() {
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
"""## + "\n"
}
}

extension PageFiles {
enum MainScript {
    static let code = ##"""
function addAct(place, form, label, what, words, run) {
  $(place).append(act(label, what, words, run));
  $(form).addEventListener('submit', (event) => {
    event.preventDefault();
    run();
  });
}
$('reset').append(
  command('Reset', 'Reset all devices to their state at the start', ['reset'], 'POST', '/v1/reset', {}));
const advanceWords = () => ['advance', $('by').value];
addAct('advance', 'clock', 'Advance', 'Advance the clock', advanceWords,
  () => perform(advanceWords(), 'POST', '/v1/clock/advance', { by: $('by').value }));
const markWords = () => ['mark', $('mark-name').value.trim() || 'mark'];
addAct('mark-act', 'mark', 'Mark', 'Set the mark', markWords, async () => {
  const [, name] = markWords();
  if (await perform(markWords(), 'POST', '/v1/mark', { name })) $('mark-name').value = '';
});
addEventListener('focus', refresh);
if (location.hash.length > 1) {
  try {
    state.device = decodeURIComponent(location.hash.slice(1));
  } catch {
  }
}
stayConnected();
"""## + "\n"
}
}
