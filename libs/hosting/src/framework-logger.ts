import type { Logger } from '@mailroom/contracts';

/** The logger that a framework asks for (Nest's `LoggerService`), on ours: its start-up chatter is `debug`. */
export class FrameworkLogger {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.write('error', message, rest);
  }

  /** The framework's last argument is its context. */
  private write(level: keyof Logger, message: unknown, rest: unknown[]): void {
    const context = rest.at(-1);
    const fields = {
      ...(typeof context === 'string' && { context }),
      ...(message instanceof Error && { err: message }),
    };
    this.logger[level](fields, message instanceof Error ? message.message : String(message));
  }
}
