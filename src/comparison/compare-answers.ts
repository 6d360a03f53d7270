/** Compares the answers of both services to one message. */
import type { Json, JsonObject } from '../domain/json.ts'
import type { ComparedMessage } from './compared-message.ts'
import { type Difference, differencesOf } from './differences.ts'
import type { EndpointDocument } from './endpoint-documents.ts'
import type { ExchangeTimes } from './exchange.ts'
import type { ReadAnswer } from './received-answer.ts'

/** One message and what both services did with it. */
export type Comparison = Readonly<{
  message: ComparedMessage
  /** The endpoint of this service; undefined if no pattern matches the path. */
  document: EndpointDocument | undefined
  /** The documents of further endpoints of this service that it calls. */
  called: readonly EndpointDocument[]
  peer: ComparedSide
  here: ComparedSide
}>

export type ComparedSide = Readonly<{
  answer: ReadAnswer
  times: ExchangeTimes
  /** The calls that it made, by the id of their request; undefined if they are not known. */
  calls: Readonly<Record<string, readonly ComparedCall[]>> | undefined
}>

export type ComparedCall = Readonly<{
  /** Upper case. */
  method: string
  /** Without a query if the peer did not record one. */
  url: string
  body: Json | undefined
}>

/** Status, media type, body and calls. Other headers are not compared: they differ by the server, not by the endpoint. */
export function differencesBetween({ peer, here }: Comparison): readonly Difference[] {
  return [
    ...differencesOf(peer.answer.status, here.answer.status, '/status'),
    ...differencesOf(peer.answer.mediaType, here.answer.mediaType, '/contentType'),
    ...differencesOf(peer.answer.value, here.answer.value, '/body'),
    ...callDifferences(peer.calls, here.calls),
  ]
}

function callDifferences(peer: ComparedSide['calls'], here: ComparedSide['calls']): readonly Difference[] {
  if (peer === undefined || here === undefined) return []
  return differencesOf(asJson(peer), asJson(here), '/calls')
}

const asJson = (calls: NonNullable<ComparedSide['calls']>): JsonObject =>
  Object.fromEntries(
    Object.entries(calls).map(([id, list]) => [
      id,
      list.map(({ method, url, body }) => ({ method, url, ...(body === undefined ? {} : { body }) })),
    ]),
  )
