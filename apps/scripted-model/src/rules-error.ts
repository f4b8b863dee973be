/** A rules file or a setting that cannot be used. The message names the file, the rule and what is wrong with it. */
export class RulesError extends Error {
  override readonly name = 'RulesError';
}
