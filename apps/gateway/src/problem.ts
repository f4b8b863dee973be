import { AppError } from '@mailroom/contracts';

/** One fault of a request; `path` leads to the field, with dots. */
export interface Fault {
  path: string;
  message: string;
}

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A request that does not fit its schema. */
export class InvalidRequest extends AppError {
  constructor(readonly faults: readonly Fault[]) {
    const [first] = faults;
    super(
      'invalid_request',
      first ? [first.path, first.message].filter(Boolean).join(': ') : 'the request is not valid',
    );
  }

  /** From what a schema found. */
  static from(issues: readonly Issue[]): InvalidRequest {
    const keys = (issue: Issue) => (issue.path ?? []).map((key) => String(typeof key === 'object' ? key.key : key));
    return new InvalidRequest(
      issues.slice(0, 20).map((issue) => ({ path: keys(issue).join('.'), message: issue.message })),
    );
  }
}

/** The body of every error answer: RFC 9457, `application/problem+json`. */
export interface Problem {
  type: 'about:blank';
  title: string;
  status: number;
  detail: string;
  code: string;
  requestId: string;
  errors?: readonly Fault[];
}
