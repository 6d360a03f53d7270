/**
 * Answers an OpenHIM core as a mediator: the answer of a message in a wrapper that also says how the message ended and what
 * its calls did. The wrapper is made of the completed message, so records and cached responses hold the answer itself.
 */
import { isUtf8 } from 'node:buffer'
import { type AddressRange, canonical, isInRange, parseAddress } from '../core/egress/egress-policy.ts'
import { FRAMING_HEADERS, isBodiless, MESSAGE_ID_HEADER, MESSAGE_PORT_HEADERS } from '../core/http.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { Answer } from '../core/message.ts'
import type { Logger } from '../core/ports/logger-port.ts'
import type { CompiledEndpoint } from '../endpoints/compiled-endpoint.ts'
import { OPENHIM_MEDIA_TYPE, readWrapper } from '../formats/openhim-wrapper.ts'
import type { CompletedMessage } from '../inbound/completed-message.ts'
import type { CoreAnswers } from '../inbound/http/message-listener.ts'
import { compileKeys } from '../records/message-log/record-builder.ts'
import {
  compilePrivacy,
  foreignIn,
  listExchanges,
  omittedCalls,
  type Privacy,
  type PrivacySettings,
  storableName,
  toOrchestrations,
} from './orchestrations.ts'

/** Names and units as in src/settings/settings.ts. */
type CoreAnswerSettings = PrivacySettings &
  Readonly<{
    mediatorUrn: string | undefined
    openhimCallers: readonly AddressRange[]
  }>

/** The most bytes of bodies that one message keeps for its orchestrations. */
const SENT_BYTES = 4 * 1024 * 1024

/** The statuses of transactions in openhim-core. */
const STATUSES: Readonly<Record<CompletedMessage['outcome'], string>> = {
  done: 'Successful',
  partial: 'Completed with error(s)',
  refused: 'Completed',
  failed: 'Failed',
}

/** The core loses a transaction with another status. */
const isStatus = (value: Json | undefined): value is string =>
  value === 'Processing' || Object.values(STATUSES).some((status) => status === value)

export function createCoreAnswers(settings: CoreAnswerSettings, logger: Logger): CoreAnswers {
  const { mediatorUrn = '', openhimCallers, openhimOrchestrations: detail } = settings
  const createPrivacy = compilePrivacy(settings)
  const keysFor = createKeys()

  function wrapped(completed: CompletedMessage, body: string): JsonObject {
    const { answer, messageId, outcome, compiled, code, startedAt, ms, trace } = completed
    // The answer of another mediator, or of a document that writes wrappers itself.
    const own =
      readContentType(answer) === OPENHIM_MEDIA_TYPE ? readWrapper(OPENHIM_MEDIA_TYPE, Buffer.from(body)) : undefined
    const foreign = detail === 'off' ? [] : foreignIn(trace, own?.orchestrations)
    const privacy = createPrivacy(
      completed,
      foreign.flatMap(({ orchestration }) => listExchanges(orchestration)),
    )
    const orchestrations = detail === 'off' ? [] : toOrchestrations(completed, privacy, foreign)
    const omitted = detail === 'off' ? 0 : omittedCalls(trace)
    const properties = {
      ...keysFor(completed, privacy),
      messageId,
      ...(compiled === undefined ? {} : { endpoint: compiled.document.name }),
      ...(code === '' ? {} : { code }),
      ...(omitted === 0 ? {} : { orchestrationsOmitted: omitted }),
    }
    const status = STATUSES[outcome]
    if (own !== undefined) {
      const { properties: given, status: givenStatus } = own.members
      return {
        ...own.members,
        status: isStatus(givenStatus) ? givenStatus : status,
        response: { ...own.response, status: own.status ?? answer.status },
        orchestrations,
        properties: { ...properties, ...(isObject(given) ? given : {}) },
      }
    }
    const error = toCoreError(completed, privacy)
    return {
      'x-mediator-urn': mediatorUrn,
      status,
      response: {
        status: answer.status,
        headers: { [MESSAGE_ID_HEADER]: messageId, ...MESSAGE_PORT_HEADERS, ...withoutFraming(answer.headers) },
        body,
        timestamp: new Date(Math.round(startedAt + ms)).toISOString(),
      },
      orchestrations,
      properties,
      ...(error === undefined ? {} : { error }),
    }
  }

  return {
    isFromCore: createCoreCallers(openhimCallers),
    sentBytes: detail === 'off' ? undefined : detail === 'bodies' ? SENT_BYTES : 0,
    wrap: (completed) => {
      const { answer, messageId } = completed
      const text = decodeBody(answer)
      if (text === undefined) return answer
      try {
        const body = JSON.stringify(wrapped(completed, text))
        const headers = { ...withoutRepresentation(answer.headers), 'content-type': OPENHIM_MEDIA_TYPE }
        return { ...answer, status: mayHaveBody(answer.status) ? answer.status : 200, headers, body }
      } catch (err) {
        logger.error({ err, messageId }, 'The wrapper of an answer could not be made')
        return answer
      }
    },
  }
}

const readContentType = ({ headers: { 'content-type': type } }: Answer): string | undefined =>
  typeof type === 'string' ? type : undefined

/** Gives up if the core could not give the same bytes to its caller. */
function decodeBody({ body, headers }: Answer): string | undefined {
  if (typeof body === 'string') return body
  if (headers['content-encoding'] !== undefined || !isUtf8(body)) return undefined
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString()
}

/** A 204, 205 or 304 cannot carry a wrapper, which names the status of the answer. */
const mayHaveBody = (status: number): boolean => !isBodiless(status) && status !== 205

const withoutFraming = (headers: Answer['headers']): JsonObject =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => !FRAMING_HEADERS.has(name) && name !== MESSAGE_ID_HEADER),
  )

/** These describe the body of the answer (RFC 9110 sections 8 and 14), which is not that of the wrapper. */
const OF_BODY = /^(?:content-.*|etag|last-modified|accept-ranges|digest|repr-digest)$/

const withoutRepresentation = (headers: Answer['headers']): Answer['headers'] =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_BODY.test(name)))

/** Only for a message that may succeed later, because the core sends a transaction with an error again. */
function toCoreError({ failure, answer, outcome }: CompletedMessage, { text }: Privacy): JsonObject | undefined {
  if (failure !== undefined) return failure.retry ? { message: text(failure.unquoted) } : undefined
  if (outcome !== 'failed') return undefined
  return { message: `The target of the response request answered with status ${answer.status}.` }
}

/** Reads the business keys of messages; their paths are compiled once for each endpoint. */
function createKeys(): (completed: CompletedMessage, privacy: Privacy) => JsonObject {
  const compiledKeys = new WeakMap<CompiledEndpoint, ReturnType<typeof compileKeys>>()
  return ({ compiled, trace }, { key }) => {
    if (compiled === undefined) return {}
    if (!compiledKeys.has(compiled)) compiledKeys.set(compiled, compileKeys(compiled.endpoint))
    const found = compiledKeys.get(compiled)?.(trace?.reached) ?? {}
    return Object.fromEntries(
      Object.entries(found).map(([name, value]) => [
        OWN_PROPERTIES.has(name) ? `${name} (key)` : storableName(name),
        typeof value === 'string' ? key(value) : value.map(key),
      ]),
    )
  }
}

const OWN_PROPERTIES: ReadonlySet<string> = new Set(['messageId', 'endpoint', 'code', 'orchestrationsOmitted'])

// Decides which requests come from an OpenHIM core: only their callers learn what the calls of a message sent and got.

const TRANSACTION_HEADER = 'x-openhim-transactionid'

/** `ranges`: the addresses of callers that need no authentication (`OPENHIM_CALLERS`). */
export function createCoreCallers(ranges: readonly AddressRange[]): CoreAnswers['isFromCore'] {
  const isListed = (text: string): boolean => {
    const parsed = parseAddress(text)
    if (parsed === undefined) return false
    const address = canonical(parsed)
    return ranges.some((range) => isInRange(address, range))
  }
  return ({ headers, address, caller }) => {
    const transaction = headers[TRANSACTION_HEADER]
    if (transaction === undefined || transaction === '') return false
    return caller !== undefined || (address !== undefined && isListed(address))
  }
}
