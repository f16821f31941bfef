// Faults: a switch for each, and how often it was applied.

import { $, keyed, setText, showSection } from './elements.js';
import { perform, switchLine } from './commands.js';
import { devicePath, state } from './state.js';

export function drawFaults({ faults }) {
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
