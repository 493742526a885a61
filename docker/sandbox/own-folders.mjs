// Gives new folders to a user, who alone may use them: own-folders.mjs <user> <folder>… A folder that has an owner keeps it.
import { chmodSync, chownSync, statSync } from 'node:fs';

const OWN = 0o700;
const [user, ...folders] = process.argv.slice(2);
for (const folder of folders) {
  if (statSync(folder).uid !== 0) continue;
  chmodSync(folder, OWN);
  chownSync(folder, Number(user), Number(user));
}
