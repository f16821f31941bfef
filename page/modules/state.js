// The state of the program and of the chosen device, as the API has it. It is read when an event says that it has
// changed; the page never polls. The document gets `chosen` when another device is chosen, and `read` after a reading.

import { draw } from './elements.js';
import { request, say } from './requests.js';

export const state = {
  /** The names of all devices, and the chosen one. */
  devices: [], device: null,
  /** The answer about the chosen device, and its layouts by the paths of attributes. */
  snapshot: null, layouts: new Map(), areLayoutsOld: true,
  /** The answer about the program, and the words for an app. */
  instance: null, words: null,
  /** Whether the stream of events is open. */
  isLive: false,
};

/** The path of the API for the chosen device. */
export const devicePath = (...rest) => '/v1/devices/' + [state.device, ...rest].map(encodeURIComponent).join('/');

let isReading = false;
let isStale = false;

/** Reads the state of the device soon: once, however many events ask for it. */
export function refresh() {
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
      // The stream of events finds out, and asks again when the program is back.
    }
    draw(tellRead);
    // Many events come at once.
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
  isReading = false;
}

const tellRead = () => document.dispatchEvent(new Event('read'));

async function readProgram() {
  state.instance = await request('GET', '/v1');
  state.devices = state.instance.devices;
  // The document has the words for an app, those of its life first.
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
    // It was removed, which an event reports; or it has a name that no address has, such as "..".
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
  // Controls are made for a layout, so the same one stays.
  if (JSON.stringify([...layouts]) !== JSON.stringify([...state.layouts])) state.layouts = layouts;
  state.snapshot = snapshot;
}

/** Shows another device, or none. */
export function choose(device) {
  if (device === state.device) return;
  Object.assign(state, { device, snapshot: null, layouts: new Map() });
  if (device !== null) history.replaceState(null, '', '#' + encodeURIComponent(device));
  document.dispatchEvent(new Event('chosen'));
  refresh();
  draw(tellRead);
}

/** The name of an attribute, or its path if it has none. */
export const attributeName = (path) => state.layouts.get(path)?.names.at(-1) ?? path;

/** The name of a UUID in the attributes of the device, or the UUID. */
export function uuidName(uuid) {
  for (const [path, { names }] of state.layouts) {
    const index = path.split('/').indexOf(uuid);
    if (index >= 0) return names[index];
  }
  return uuid;
}

/** Whether an event is about the chosen device: those of an app's phone name several. */
export const isOurs = ({ device }) =>
  device === undefined || device === state.device || device.split(', ').includes(state.device);

/** The path of the attribute that an event is about. */
export const eventPath = (event) =>
  event.path ?? [event.service, event.characteristic, event.descriptor].filter(Boolean).join('/');
