import { pino } from 'pino';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
/** Facts have names and figures: never a command, code, a file's content, a variable's value or a token. */
type Facts = Readonly<Record<string, string | number | boolean>>;

export type ServerLog = Readonly<Record<LogLevel, (event: string, facts?: Facts) => void>>;

/** A line of JSON for each event. */
export function openLog(level: LogLevel, out: { write(text: string): void }): ServerLog {
  const logger = pino(
    {
      level,
      base: null,
      messageKey: 'event',
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    out,
  );
  return {
    debug: (event, facts = {}) => logger.debug(facts, event),
    info: (event, facts = {}) => logger.info(facts, event),
    warn: (event, facts = {}) => logger.warn(facts, event),
    error: (event, facts = {}) => logger.error(facts, event),
  };
}
