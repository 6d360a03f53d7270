/** What compiled endpoints call and obey: the ports and the settings that stages read. */

import type { EgressPolicy } from '../domain/egress/egress-policy.ts'
import type { HttpClient } from '../domain/ports/http-client-port.ts'
import type { RecordProducer } from '../domain/ports/record-producer.ts'
import type { StateStore } from '../domain/ports/state-store-port.ts'
import type { TokenVerifier } from '../domain/ports/token-verifier-port.ts'
import type { SecretSource } from '../domain/secrets/secrets.ts'
import type { ParserSettings } from '../formats/codec.ts'
import type { IdempotencyService } from './idempotency/idempotency-service.ts'
import type { Sandbox, SandboxedProgram } from './sandbox.ts'

export type Services = Readonly<{
  http: HttpClient
  states: StateStore
  producer: RecordProducer
  secrets: SecretSource
  /** What `http` obeys, to be told of when a document is registered. */
  egress: EgressPolicy
  tokens: TokenVerifier
  idempotency: IdempotencyService
  /** Where expressions and schemas run; undefined where that is here. */
  sandbox?: Sandbox | undefined
  /** The document's own, compiled there. */
  sandboxed?: SandboxedProgram | undefined
}>

/** The part of the settings that the pipeline obeys; names and units as in src/settings/settings.ts. */
export type PipelineSettings = ParserSettings &
  Readonly<{
    validationAcceptNullValues: boolean
    validationCoerceTypes: boolean
    requestTimeoutMs: number
    requestRetries: number
    forEachMaxItems: number
    messageTimeoutMs: number
    expressionTimeoutMs: number
    expressionMaxDepth: number
    expressionMaxSequence: number
  }>
