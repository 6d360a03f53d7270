/** What a server is configured with: its limits, and how it answers without a route. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Failure } from '../../domain/failure.ts'
import type { Answer } from '../../domain/message.ts'

export type ServerLimits = Readonly<{
  parserLimitBytes: number
  serverHeadersTimeoutMs: number
  serverRequestTimeoutMs: number
  serverKeepAliveTimeoutMs: number
}>

/** Answers a failure that happened outside of any route, or before one was known. */
export type AnswerFailure = (failure: Failure) => Answer

/** Answers a request before any route is looked for; tells whether it did. */
export type Front = (request: IncomingMessage, response: ServerResponse) => boolean

/** What a server of messages does by itself. */
export type MessageSide = Readonly<{
  front: Front
  /** Refuses a request whose URL cannot be read; tells whether it did. */
  refuseUnreadable(failure: Failure, request: IncomingMessage, response: ServerResponse): boolean
  /** Answers what was no request yet, and leaves a record of it. */
  refuseUnparsed: AnswerFailure
}>
