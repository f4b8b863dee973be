const CODES = {
  bold: 1,
  dim: 2,
  red: 31,
  green: 32,
  yellow: 33,
  blue: 34,
  magenta: 35,
  cyan: 36,
} as const;

export type Paint = keyof typeof CODES;

/** The text in a terminal colour, or as it is. */
export function paint(text: string, style: Paint, color: boolean): string {
  return color ? `\u001b[${CODES[style]}m${text}\u001b[0m` : text;
}
