/** What the libraries ask of a log; pino's logger fits as it is. Fields hold ids and numbers, never prompts or secrets. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
