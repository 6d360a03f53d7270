/** The one question that the HTTP adapter asks about a request: whether its message may come in. */
import { Failure } from '../core/failure.ts'
import type { Awaitable } from '../core/json.ts'
import type { Headers } from '../core/message.ts'
import type { CompiledEndpoint } from '../endpoints/compiled-endpoint.ts'
import type { CompletedMessage } from './completed-message.ts'
import type { Incoming } from './incoming-message.ts'

/** What is known of a request before its body is read. */
export type Arrival = Readonly<{ headers: Headers; hasLeft(): boolean }>

/**
 * What the message of an admitted request starts with, or the refusal, which is recorded already. `caller`: authenticated,
 * even if the message is refused for another reason.
 */
export type RequestAdmission =
  | (Pick<Incoming, 'requestHeaders' | 'caller'> & Readonly<{ refused?: undefined }>)
  | Readonly<{ refused: CompletedMessage; caller?: string | undefined }>

/** Out: undefined if the caller left meanwhile. A promise only if the endpoint authenticates its callers. */
export type AdmitRequest = (compiled: CompiledEndpoint, arrival: Arrival) => Awaitable<RequestAdmission | undefined>

export type AdmissionChecks = Readonly<{
  /** OVERLOADED or SHUTTING_DOWN if the message could neither run nor queue. */
  refusal(compiled: CompiledEndpoint): Failure | undefined
  /** Counts the message for the `rateLimit` of its endpoint; RATE_LIMITED if it is one too many. */
  overRate(compiled: CompiledEndpoint): Failure | undefined
  refuse(compiled: CompiledEndpoint, failure: Failure): CompletedMessage
}>

/** The cheapest check first, but the rate last: a request without good credentials must not use up the rate of others. */
export function createRequestAdmission({ refusal, overRate, refuse }: AdmissionChecks): AdmitRequest {
  const limitRate = (compiled: CompiledEndpoint, requestHeaders: Headers, caller?: string): RequestAdmission => {
    const failure = overRate(compiled)
    return failure === undefined ? { requestHeaders, caller } : { refused: refuse(compiled, failure), caller }
  }
  const authenticate = async (
    compiled: CompiledEndpoint,
    auth: NonNullable<CompiledEndpoint['auth']>,
    { headers, hasLeft }: Arrival,
  ): Promise<RequestAdmission | undefined> => {
    const caller = await auth.identify(headers)
    if (caller instanceof Failure) return { refused: refuse(compiled, caller) }
    return hasLeft() ? undefined : limitRate(compiled, auth.withoutCredentials(headers), caller)
  }
  return (compiled, arrival) => {
    const failure = refusal(compiled)
    if (failure !== undefined) return { refused: refuse(compiled, failure) }
    const { auth } = compiled
    return auth === undefined ? limitRate(compiled, arrival.headers) : authenticate(compiled, auth, arrival)
  }
}
