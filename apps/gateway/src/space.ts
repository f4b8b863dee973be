import { createParamDecorator } from '@nestjs/common';

/** The tenant of a request: the one place that decides it. Until there are keys, everybody is in the same space. */
export function spaceOf(): string {
  return 'default';
}

/** The space of the request, as a handler's parameter. */
export const Space = createParamDecorator(spaceOf);
