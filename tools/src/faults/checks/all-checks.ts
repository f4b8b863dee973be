import { ONE_ROW } from './account';
import { ONE_WRITER } from './activations';
import type { Check } from './check';
import { ONE_EFFECT } from './effects';
import { EVENTS_ONCE, RUNS_ANSWERED, RUNS_END } from './events';
import { NO_LEAKS, WITHIN_BOUNDS } from './leaks';
import { IN_ORDER, ONE_PLACE, ONE_RESULT } from './messages';
import { SURVIVING_PREFIX } from './rollback';
import { LEGAL_HISTORIES, PREFIX_OF_JOURNAL } from './transcripts';

/** I1 to I14. */
export const ALL_CHECKS: readonly Check[] = [
  ONE_PLACE,
  ONE_RESULT,
  IN_ORDER,
  ONE_WRITER,
  ONE_EFFECT,
  EVENTS_ONCE,
  NO_LEAKS,
  RUNS_END,
  LEGAL_HISTORIES,
  PREFIX_OF_JOURNAL,
  RUNS_ANSWERED,
  WITHIN_BOUNDS,
  SURVIVING_PREFIX,
  ONE_ROW,
];
