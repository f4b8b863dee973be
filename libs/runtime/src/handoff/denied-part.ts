import type { StepPart } from '@mailroom/mailbox';
import type { Seat } from '../team';

/**
 * A policy error: it ends the caller's work and is no tool error (seed 003 §5). A lead's run fails; a sub-agent's task
 * fails with a code that its own caller takes for a policy error in turn, up to the lead.
 */
export function deniedPart(
  seat: Seat,
  reason: string,
): Pick<StepPart, 'settle' | 'final' | 'leave' | 'park' | 'sends'> {
  const common = { sends: [], park: 'yes' as const };
  if (seat.role === 'lead')
    return { ...common, settle: { status: 'failed', reason: 'handoff_denied', force: true, text: reason } };
  return { ...common, final: { status: 'failed', force: true, text: reason, code: 'handoff_denied' }, leave: 'error' };
}
