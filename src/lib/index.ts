export {
  copyUntrusted,
  makeIgnoredFolder,
  readUntrusted,
  readUntrustedNow,
  syncFolder,
  writeFileAtomic,
} from './atomic-file.ts';
export { repeat, sleep, startTimer, systemClock, within } from './clock.ts';
export type { Clock, Timer } from './clock.ts';
export { AppError, hasCode, reasonOf, systemCode } from './app-error.ts';
export { asAppError, diskReason, endOfRun, libErrors } from './errors.ts';
export { copyTogether } from './copy-together.ts';
export { digestOf, keyedDigest } from './digest.ts';
export { isOldDraft, removeDrafts, removeLockDrafts } from './drafts.ts';
export { foreignLock, hasToken, lockHolder, tryLock, withLock } from './file-lock.ts';
export type { LockAttempt, LockHolder } from './file-lock.ts';
export { findProgram } from './find-program.ts';
export { freeBytesIn } from './free-bytes.ts';
export { heldFolders } from './held-folders.ts';
export type { HeldFolder } from './held-folders.ts';
export { isMissing, isThere, modifiedAt, openIfThere, readIfThere, undefinedIfMissing } from './if-there.ts';
export { randomId, timeId } from './ids.ts';
export { makeFolder } from './make-folder.ts';
export { readWhole } from './read-whole.ts';
export { readFirstLine } from './read-first-line.ts';
export { endWithAnswer, joinSockets } from './sockets.ts';
export { enter } from './places.ts';
export type { Places } from './places.ts';
export { endOf, kill, killGroup, MOST_OUTPUT, run, startDaemon, startJob, startTalk } from './process.ts';
export type { Environment, Job, TalkingProcess } from './process.ts';
export { readPlainFiles } from './plain-files.ts';
export { checkPrivateFolder, makePrivateFolder, realPathOf } from './private-folder.ts';
export { environmentOf, findByEnvironment, isAlive, killByEnvironment, processStart } from './process-tree.ts';
export type { ProcessIdentity } from './process-tree.ts';
export { openFolders, removeIfEmpty, removeTree } from './remove-tree.ts';
export {
  CLEAR_LINE,
  ENTER_SCREEN,
  joined,
  LEAVE_SCREEN,
  line,
  overwriting,
  painted,
  printable,
  printableBlock,
  printableJson,
  printableLines,
  printableOutput,
  withoutControls,
} from './text/printable.ts';
export type { Printable } from './text/printable.ts';
export { listenForShutdown, SAME_MOMENT_MS } from './shutdown.ts';
export { atHome, settingsHome, stateHome } from './user-folders.ts';
export { reserveDescriptors } from './reserve.ts';
export { readSystemFile } from './system-file.ts';
export { isPassing, repeated } from './transient.ts';
export { untilAll } from './until-all.ts';
export { watchFolder } from './watch-folder.ts';
export { inBytes, inClock, inDollars, inDuration, inSeconds } from './text/amounts.ts';
export { createLineSplitter, createTail, cutLine } from './text/lines.ts';
export { readJson } from './text/json.ts';
export { jsonProblem } from './text/json-problem.ts';
export { withoutComments } from './text/json-comments.ts';
export { asCommand } from './text/shell-words.ts';
export { variablesOf } from './text/variables.ts';
export { createByteLines, createWholeLines } from './text/whole-lines.ts';
export { clip, counted, firstLine, inOneLine, listed } from './text/words.ts';
