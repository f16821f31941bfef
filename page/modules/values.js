// Numbers with all their digits, and bytes as text.

/** Whether a text is a whole number that a number of JavaScript may not hold. */
const isRounded = (text) =>
  /^\s*([-+]?\d+|0x[\da-f]+)\s*$/i.test(text) && !Number.isSafeInteger(Number(text));

/** The number in a text, with all its digits; other text as it is. */
export const numberOf = (text) =>
  isNaN(text) || !text.trim() ? text : isRounded(text) ? BigInt(text) : Number(text);

/** Reads JSON with all digits of whole numbers. */
export const parseJSON = (text) => JSON.parse(text, (key, value, context) =>
  typeof value === 'number' && isRounded(context?.source) ? BigInt(context.source) : value);
BigInt.prototype.toJSON = function () { return JSON.rawJSON?.(`${this}`) ?? `${this}`; };

/** Hexadecimal digits with a space after each byte. */
export const spaced = (hex) => hex.replace(/(..)(?=.)/g, '$1 ');

/** Bytes as text, or an empty text if they are not printable. */
export function printable(hex) {
  const bytes = (hex.match(/../g) ?? []).map((byte) => parseInt(byte, 16));
  return bytes.length > 1 && bytes.every((byte) => byte >= 0x20 && byte < 0x7f)
    ? String.fromCharCode(...bytes) : '';
}
