/** Takes credentials and redacted values out of what a core learns of one message. */
import { isUtf8 } from 'node:buffer'
import type { JsonObject } from '../../core/json.ts'
import { isSecretName, isSecretParameter } from '../../core/secrets/secrets.ts'
import type { CompletedMessage } from '../../inbound/completed-message.ts'
import { captureBodies, createBodyCapture } from '../../records/message-log/bodies.ts'
import {
  type Credentialed,
  compileRedaction,
  createSecretsOf,
  hideValues,
  holdsToken,
  REDACTED,
  secretHeadersOf,
  withoutSecretsIn,
} from '../../records/message-log/redaction.ts'

export type PrivacySettings = Readonly<{
  redactHeaders: readonly string[]
  redactPaths: readonly string[]
  messageLogBodyLimitBytes: number
  /** What a core learns of calls: nothing, each without its bodies, or with them. */
  openhimOrchestrations: 'off' | 'metadata' | 'bodies'
}>

type HeaderValues = Readonly<Record<string, string | readonly string[]>>

export type Privacy = Readonly<{
  /** Without secrets and redacted values. */
  text(text: string): string
  /** Also without the values of secret parameters. */
  query(query: string): string
  /**
   * The headers of a request or response, without the values of secret ones; with `bodies` also its body as a text, cut
   * and redacted as in the message log. `size`: of the body, in bytes.
   */
  content(headers: HeaderValues, body: string | Uint8Array | undefined, size: number): JsonObject
  /** Values of business keys; a redacted value is replaced whole. */
  key(value: string): string
}>

/** More bytes of bodies are not read: the answer waits for it. */
const MOST_READ_BYTES = 4 * 1024 * 1024

/** More redacted values take too long to search for. */
const MOST_SEARCHED = 1_000

/** `foreign`: orchestrations of other mediators that the core gets. */
export type PrivacyOf = (completed: CompletedMessage, foreign: readonly Credentialed[]) => Privacy

export function compilePrivacy(settings: PrivacySettings): PrivacyOf {
  const { redactHeaders, redactPaths, messageLogBodyLimitBytes, openhimOrchestrations } = settings
  const secretHeaders = secretHeadersOf(redactHeaders)
  const redaction = compileRedaction(redactPaths)
  const names = {
    isHeader: (name: string) => secretHeaders.has(name) || isSecretName(name),
    isParameter: isSecretParameter,
  }
  const secretsOf = createSecretsOf(names)

  /** The values that `REDACT_PATHS` finds anywhere in the message; undefined if finding or hiding them takes too long. */
  function redactedIn(completed: CompletedMessage): ReadonlySet<string> | undefined {
    const capture = createBodyCapture(0, redaction, [])
    if (redaction === undefined) return capture.redacted
    if (bytesIn(completed) > MOST_READ_BYTES) return undefined
    captureBodies(completed, capture, secretHeaders)
    for (const { sent } of completed.trace?.calls ?? []) {
      if (sent?.body !== undefined) capture.addBody('', sent.headers['content-type'] ?? '', bytesOf(sent.body))
    }
    return capture.redacted.size > MOST_SEARCHED ? undefined : capture.redacted
  }

  return (completed, foreign) => {
    const redacted = redactedIn(completed)
    const secrets = secretsOf(completed, foreign)
    const hide = redacted === undefined ? () => REDACTED : hideValues(redacted)
    const capture = createBodyCapture(messageLogBodyLimitBytes, redaction, secrets, { hide })
    let left = MOST_READ_BYTES

    const text = (given: string): string => (given === '' ? '' : hide(withoutSecretsIn(given, secrets)))
    const value = (name: string, given: string): string =>
      names.isHeader(name) || holdsToken(given) ? REDACTED : text(given)

    const shownHeaders = (headers: HeaderValues): JsonObject =>
      Object.fromEntries(
        Object.entries(headers).map(([name, given]) => [
          storableName(name),
          typeof given === 'string' ? value(name, given) : given.map((one) => value(name, one)),
        ]),
      )
    const shownBody = (contentType: string, content: string | Uint8Array | undefined, size: number): string => {
      if (size === 0) return ''
      if (content === undefined || redacted === undefined || size > left) return notShown(size)
      left -= size
      capture.addBody('', contentType, bytesOf(content))
      const added = capture.bodies.at(-1)
      return shownText(added?.content ?? NO_BYTES, added?.summary.cut === true, size)
    }

    return {
      text,
      query: (query) =>
        query
          .split('&')
          .map((pair) => queryPair(pair, text))
          .join('&'),
      content: (headers, body, size) => ({
        headers: shownHeaders(headers),
        ...(openhimOrchestrations === 'bodies' ? { body: shownBody(typeOf(headers), body, size) } : {}),
      }),
      key: (given) => (redacted?.has(given) ? REDACTED : text(given)),
    }
  }
}

const NO_BYTES = new Uint8Array()

function bytesIn({ incoming, trace, answer }: CompletedMessage): number {
  let bytes = (incoming?.body?.byteLength ?? 0) + answer.body.length
  for (const call of trace?.calls ?? []) bytes += (call.answer?.body.byteLength ?? 0) + (call.sent?.size ?? 0)
  return bytes
}

const bytesOf = (body: string | Uint8Array): Uint8Array => (typeof body === 'string' ? Buffer.from(body) : body)

const typeOf = ({ 'content-type': type }: HeaderValues): string => [type ?? ''].flat()[0] ?? ''

const notShown = (size: number): string => `[${size} bytes, not shown]`

/** The core stores bodies as texts. */
function shownText(content: Uint8Array, cut: boolean, size: number): string {
  if (content.byteLength === 0) return notShown(size)
  if (!isUtf8(content)) return `[${size} bytes that are not text]`
  const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString()
  return cut ? `${text}… [cut, ${size} bytes in all]` : text
}

function queryPair(pair: string, text: (given: string) => string): string {
  const [name = ''] = pair.split('=', 1)
  if (name === pair) return text(pair)
  const [decoded = name] = new URLSearchParams(pair).keys()
  const value = pair.slice(name.length + 1)
  return `${text(name)}=${isSecretParameter(decoded) || holdsToken(value) ? REDACTED : text(value)}`
}

/**
 * The core escapes dots and dollars in the names of its own headers only, and older databases of cores refuse them in names
 * (openhim-core, messageStore.js).
 */
export const storableName = (name: string): string =>
  name.replaceAll('.', '\uff0e').replaceAll('$', '\uff04').replaceAll('\0', '')
