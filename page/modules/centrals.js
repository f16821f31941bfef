// Centrals: the connected ones, with their links and subscriptions, and what limits them.

import { $, keyed, make, setText } from './elements.js';
import { command } from './commands.js';
import { attributeName, devicePath, state } from './state.js';

/** What a phone notices of the limits. */
function limitWords({ centrals, mtu, keySize }) {
  return [
    centrals && `Takes ${centrals} central${centrals === 1 ? '' : 's'}: then no other phone finds it.`,
    mtu && `Offers an ATT_MTU of at most ${mtu}, which sends ${mtu - 3} bytes at once.`,
    keySize && `Encrypts with keys of at most ${keySize} octets.`,
  ].filter(Boolean).join(' ');
}

const limitText = make('p.dim');

export function drawCentrals({ centrals, limits = {} }) {
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
