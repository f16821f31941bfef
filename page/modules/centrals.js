// Centrals: the connected ones, with their links and subscriptions.

import { $, keyed, make, setText } from './elements.js';
import { command } from './commands.js';
import { attributeName, devicePath, state } from './state.js';

export function drawCentrals({ centrals }) {
  setText($('centrals-aside'), centrals.length ? `${centrals.length} connected` : '');
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
