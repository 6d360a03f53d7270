/** A failure: the one error whose text may be sent. */
import type { FailureKind, IssueType } from './failure-kind.ts'
import { FAILURES, type FailureCode } from './failure-table.ts'
import type { Json, JsonObject } from './json.ts'

export type FailureDetail = Readonly<{
  /** The index in a batch, with the code that the operation alone would fail with. */
  operation?: number
  code?: FailureCode
  path: string
  /** Continues the path, unless `isSentence`. */
  message: string
  isSentence?: boolean
  /** In place of the issue type of the row. */
  issue?: IssueType | undefined
  /** JSON Pointer (RFC 6901) into the body of the message; undefined if the fault is elsewhere. */
  inBody?: string | undefined
}>

export type FailureOptions = Readonly<{
  /** Place in the configuration, for example `requests.lookup[0].config.url`. */
  path?: string
  details?: readonly FailureDetail[]
  /** What the document gave as details of a failure of its own, in place of `details`. */
  ownDetails?: Json | undefined
  /** The status of another system that is passed on, instead of the status in the table. */
  status?: number
  /** Further headers of the answer, for example `allow`. */
  headers?: Readonly<Record<string, string>>
  /** Answer as a FHIR R4 OperationOutcome, unless the endpoint asks for plain failures. */
  fhir?: boolean
  /** The issues of the OperationOutcome that another system refused with. */
  issues?: readonly JsonObject[]
  /** The sentence for the log if `message` quotes another system or the message, which may be about a person. */
  unquoted?: string
  cause?: unknown
}>

/**
 * A fault of one message or management call; pipeline/reply.ts makes the answer of it. It has no stack: the code, the stage
 * and the path name the place, and the functions of a stack keep what they worked on in memory, here the whole message, for
 * as long as a record is tried again. A stack would also take ten times as long as the rest.
 */
export class Failure extends Error {
  readonly code: FailureCode
  readonly status: number
  readonly options: FailureOptions
  /** Set once by the chain, which knows the stage that threw. */
  stage: string | undefined

  constructor(code: FailureCode, message: string, options: FailureOptions = {}) {
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    Error.stackTraceLimit = stackTraceLimit
    this.name = 'Failure'
    this.code = code
    this.status = options.status ?? FAILURES[code].status
    this.options = options
  }

  get kind(): FailureKind {
    return FAILURES[this.code]
  }

  /** The issue type of FHIR R4. */
  get issue(): IssueType {
    const { issue } = this.kind
    return typeof issue === 'function' ? issue(this.options.status) : issue
  }

  /** The sentence for the log. */
  get unquoted(): string {
    return this.options.unquoted ?? this.message
  }

  /** Details of the document as a text: itself, or its JSON. */
  get ownDetailsText(): string | undefined {
    const { ownDetails } = this.options
    return typeof ownDetails === 'string' ? ownDetails : JSON.stringify(ownDetails)
  }

  /** True if the same message may succeed later. A status that is passed on decides instead of the table. */
  get retry(): boolean {
    const { status } = this.options
    if (status === undefined) return this.kind.retry
    return status >= 500 || this.kind.retryAt?.includes(status) === true
  }
}

/** The load alone is to blame: the same work may go through in a moment. */
export const isOverload = (thrown: unknown): thrown is Failure =>
  thrown instanceof Failure && thrown.kind.shed === 'load'

/** Any thrown value as a Failure. Anything else than a Failure is a bug of the service, whose text is never sent. */
export function asFailure(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown
  return new Failure('INTERNAL', 'The service failed to process this message; its log has the cause.', {
    cause: thrown,
  })
}
