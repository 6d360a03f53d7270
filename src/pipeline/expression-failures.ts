/** How a message fails by an expression, wherever that ran. */
import { Failure } from '../domain/failure.ts'

/** `path` is the place of the expression in the document. */
export function failed(
  path: string,
  { message, unquoted }: Readonly<{ message: string; unquoted: string }>,
  cause?: unknown,
): Failure {
  const sentence = (text: string) => `The expression "${path}" failed: ${text}`
  return new Failure('TRANSFORM_FAILED', sentence(message), { path, cause, unquoted: sentence(unquoted) })
}

export const outOfTime = (path: string): Failure =>
  new Failure('DEADLINE_EXCEEDED', `The message ran out of time before the expression "${path}".`, { path })
