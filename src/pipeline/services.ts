/** The ports and settings that stages use. */
import type { EgressPolicy } from '../core/egress/egress-policy.ts'
import type { BudgetLimits } from '../core/message-budget.ts'
import type { Outbound } from '../core/ports/outbound-port.ts'
import type { TokenVerifier } from '../core/ports/token-verifier-port.ts'
import type { SecretSource } from '../core/secrets/secrets.ts'
import type { ParserSettings } from '../formats/codec.ts'
import type { Ambient } from '../language/jsonata/expression.ts'
import type { DeliveryStore } from '../store/sql/delivery-store.ts'
import type { StateStore } from '../store/sql/states.ts'
import type { IdempotencyService } from './idempotency/idempotency-service.ts'
import type { Sandbox, SandboxedProgram } from './sandbox.ts'
import type { StageObserver } from './stage-observer.ts'

/** Takes the deliveries of messages. `onAccepted` wakes what sends them. */
export type DeliveryIntake = Pick<DeliveryStore, 'accept'> & Readonly<{ newId(): string; onAccepted(): void }>

export type Services = Readonly<{
  /** Sends the requests of documents. */
  outbound: Outbound
  states: StateStore
  secrets: SecretSource
  /** The policy of `outbound`, for warnings when a document is registered. */
  egress: EgressPolicy
  tokens: TokenVerifier
  idempotency: IdempotencyService
  deliveries: DeliveryIntake
  /** Time and chance for expressions that must give the same result at every run; undefined for those of the machine. */
  ambient?: (() => Ambient) | undefined
  /** Runs expressions and schemas; undefined if they run in this process. */
  sandbox?: Sandbox | undefined
  /** The program of the document, compiled in `sandbox`. */
  sandboxed?: SandboxedProgram | undefined
  /** The schema's code is generated when a message needs it: the document was checked before, or no message will arrive. */
  generatesLater?: true | undefined
  /** Of a dry run: gets the steps of its message. */
  observer?: StageObserver | undefined
}>

/** Names and units as in src/settings/settings.ts. */
export type PipelineSettings = ParserSettings &
  BudgetLimits &
  Readonly<{
    validationAcceptNullValues: boolean
    validationCoerceTypes: boolean
    requestTimeoutMs: number
    requestRetries: number
    answerLimitBytes: number
    parserLimitBytes: number
    forEachMaxItems: number
    requestUrlLimitBytes: number
    stateLimitBytes: number
    deliveryMaxBytes: number
    messageTimeoutMs: number
    expressionTimeoutMs: number
    expressionMaxDepth: number
    expressionMaxSequence: number
    openhimRegister: boolean
  }>
