/** The one form in which a call of the API fails. */
import type { Schemas } from '../../../src/api/types.ts'

export type FailureDetail = Schemas['FailureDetail']

const REFUSALS: ReadonlySet<number> = new Set([400, 403, 413, 415, 422])

/** `status` is 0 if the service did not answer. The message is the sentence of the API, to be shown unchanged. */
export class ApiFailure extends Error {
  readonly status: number
  readonly code: string | undefined
  readonly details: readonly FailureDetail[]
  /** Seconds after which the service asks to try again. */
  readonly retryAfter: number | undefined

  constructor(
    sentence: string,
    given: Readonly<{ status: number; code?: string; details?: readonly FailureDetail[]; retryAfter?: number }>,
  ) {
    super(sentence)
    this.name = 'ApiFailure'
    this.status = given.status
    this.code = given.code
    this.details = given.details ?? []
    this.retryAfter = given.retryAfter
  }

  /** No answer arrived, so the same call may work when the service is back. */
  get isAway(): boolean {
    return this.status === 0
  }

  /** The service would refuse the same call each time, because of what it asks for. */
  get isRefusal(): boolean {
    return REFUSALS.has(this.status)
  }
}

export const serviceAway = (): ApiFailure => new ApiFailure('The service does not answer.', { status: 0 })

/** In: an answer that is not a success, with its body as openapi-fetch read it. */
export function toApiFailure(response: Response, body: unknown): ApiFailure {
  const { status, headers } = response
  const read = isFailureBody(body) ? body : undefined
  const retryAfter = Number(headers.get('retry-after') ?? Number.NaN)
  return new ApiFailure(read?.error ?? `The service answered with status ${status}.`, {
    status,
    ...(read === undefined ? {} : { code: read.code, details: read.details ?? [] }),
    ...(Number.isFinite(retryAfter) ? { retryAfter } : {}),
  })
}

/** Anything that was thrown, as a failure: a fault of the page itself has no code. */
export function asFailure(thrown: unknown): ApiFailure {
  if (thrown instanceof ApiFailure) return thrown
  return new ApiFailure(thrown instanceof Error ? thrown.message : String(thrown), { status: -1 })
}

function isFailureBody(body: unknown): body is Schemas['Failure'] {
  return typeof body === 'object' && body !== null && typeof (body as { error?: unknown }).error === 'string'
}
