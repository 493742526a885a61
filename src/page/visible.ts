/** What steers a terminal, and what is not seen but changes how the text beside it reads. */
const STEERING = /[^\P{Cc}\t\n]|[\u061C\u200B\u200E\u200F\u2028-\u202E\u2066-\u2069\uFEFF]/gu;
const [CARET, DELETE] = [0x40, 0x7f];

/** What a program prints, as nothing but text: what would steer a terminal is shown as `cat -v` does, as far as that goes. */
export function visible(output: string): string {
  return output.replaceAll(/\r\n?/g, '\n').replaceAll(STEERING, (sign) => {
    const code = sign.codePointAt(0) ?? 0;
    return code <= DELETE ? `^${String.fromCodePoint(code ^ CARET)}` : '\uFFFD';
  });
}
