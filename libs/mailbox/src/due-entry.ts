/** What a due member asks for: an activation that may be lost · a lease that ran out · a deadline of R15, of a handoff. */
export type DueKind = 'job' | 'lease' | 'wait' | 'clarify' | 'handoff';

export interface DueEntry {
  sessionId: string;
  agent: string;
  kind: DueKind;
}
