/** The limits of a server, and how it answers without a route. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Failure } from '../../core/failure.ts'
import type { Answer } from '../../core/message.ts'

export type ServerLimits = Readonly<{
  parserLimitBytes: number
  serverHeadersTimeoutMs: number
  serverRequestTimeoutMs: number
  serverKeepAliveTimeoutMs: number
}>

/** Answers a failure of a management call, or of input that no route is known for. */
export type AnswerFailure = (failure: Failure) => Answer

/** Answers a failure of input that did not become a whole request. */
export type AnswerUnread = (failure: Failure, socket: Socket) => Answer

/** Headers that every answer of a server has, by lower-case names; a message port adds them to answers to messages itself. */
export type EveryAnswer = Readonly<Record<string, string>>

/** Answers a request before the router sees it. Out: whether it did. */
export type Front = (request: IncomingMessage, response: ServerResponse) => boolean

/** What a server of messages adds to the router. */
export type MessageSide = Readonly<{
  front: Front
  /** Refuses a request whose URL cannot be read. Out: whether it did. */
  refuseUnreadable(failure: Failure, request: IncomingMessage, response: ServerResponse): boolean
  /** Answers input that is not a whole request yet, and records the refusal. */
  refuseUnparsed: AnswerUnread
}>
