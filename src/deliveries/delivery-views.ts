/**
 * What people see of deliveries. A delivery holds values of its message, so what the message log hides of bodies and headers
 * (REDACT_PATHS, REDACT_HEADERS, credentials) is hidden here too; what is sent stays whole.
 */
import type { Delivery, DeliveryAttempt } from '../core/deliveries/delivery.ts'
import { withoutQuery } from '../core/http.ts'
import { omitUndefined } from '../core/json.ts'
import { isSecretName, MASK, referencesIn } from '../core/secrets/secrets.ts'
import type { Registry } from '../endpoints/endpoint-registry.ts'
import type { NameLimits } from '../formats/name-limits.ts'
import { appendEncoded } from '../language/url-template.ts'
import { createBodyCapture } from '../records/message-log/bodies.ts'
import {
  compileRedaction,
  createSecretsFinder,
  type HideValues,
  hideValues,
  holdsToken,
  redactText,
  secretHeaderNames,
  withoutSecretsIn,
} from '../records/message-log/redaction.ts'
import type { DeliveryStore } from '../store/sql/delivery-store.ts'
import type { DeliveryDetail, DeliveryView, OutgoingRequest, OutgoingView, SenderView } from './delivery-schemas.ts'

/** Which values of messages are hidden. */
export type DeliveryViewSettings = NameLimits &
  Readonly<{ redactHeaders: readonly string[]; redactPaths: readonly string[] }>

type Content = NonNullable<Awaited<ReturnType<DeliveryStore['content']>>>

/** Values of a message that are hidden wherever they occur. */
type Hidden = Readonly<{ hide: (text: string) => string; body: Uint8Array | undefined; masked: boolean }>

export function createDeliveryViews(
  { redactHeaders, redactPaths, ...limits }: DeliveryViewSettings,
  registry: Pick<Registry, 'get'>,
) {
  const secretHeaders = secretHeaderNames(redactHeaders)
  const redaction = compileRedaction(redactPaths)
  const findSecrets = createSecretsFinder({ isHeader: () => true })

  const isSecret = (name: string, value: string): boolean =>
    secretHeaders.has(name) || isSecretName(name) || holdsToken(value)

  function hidden({ endpointId }: Delivery, { request, body }: Content): Hidden {
    const headers = Object.fromEntries(Object.entries(request.values).filter(([name, value]) => isSecret(name, value)))
    const secrets = findSecrets({}, [{ headers, query: '' }])
    const capture = createBodyCapture(Number.POSITIVE_INFINITY, redaction, secrets, {
      documented: registry.get(endpointId)?.endpoint,
      ...limits,
    })
    if (body !== undefined) capture.addBody('outgoing', request.contentType ?? '', body)
    const [shown] = capture.bodies
    const hide = redaction === undefined ? undefined : hideValues(capture.redacted)
    return {
      hide: (text) => hideText(withoutSecretsIn(text, secrets), hide),
      body: shown?.content,
      masked: shown?.summary.masked === true,
    }
  }

  function outgoing({ request }: Content, { hide }: Hidden, withValues: boolean): OutgoingView {
    const { method, url, query, contentType } = request
    // A text with a reference does not have the secret itself.
    const documented = Object.entries(request.headers).map(
      ([name, text]) => [name, isSecret(name, text) && referencesIn(text).length === 0 ? MASK : text] as const,
    )
    const values = Object.entries(request.values).map(
      ([name, value]) => [name, withValues && !isSecret(name, value) ? hide(value) : MASK] as const,
    )
    return omitUndefined({
      method,
      url: hide(withValues ? appendEncoded(url, query) : withoutQuery(url)),
      headers: Object.fromEntries([...documented, ...values]),
      contentType,
    })
  }

  return {
    /** Without reading what is sent: a key may be a value that is hidden, so it is hidden if any is. */
    list: (delivery: Delivery): DeliveryView =>
      redaction === undefined
        ? toView(delivery, (text) => text)
        : {
            ...toView(delivery, (text) => redactText(text, (same) => same)),
            ...(delivery.orderKey === undefined ? {} : { key: MASK }),
          },
    /** For the sender of its message. */
    forSender: ({
      id,
      requestId,
      item,
      state,
      acceptedAt,
      endedAt,
      dueAt,
      attempts,
      lastAttempts,
    }: Delivery): SenderView => {
      const lastStatus = lastAttempts.at(-1)?.status
      return omitUndefined({ id, request: requestId, item, state, acceptedAt, endedAt, dueAt, attempts, lastStatus })
    },
    detail: (delivery: Delivery, content: Content | undefined): DeliveryDetail => {
      const found = content === undefined ? undefined : hidden(delivery, content)
      const hide = found?.hide ?? ((text) => (redaction === undefined ? text : MASK))
      return omitUndefined({
        ...toView(delivery, hide),
        lastAttempts: delivery.lastAttempts.map((attempt) => toAttempt(attempt, hide)),
        outgoing: content && found && outgoing(content, found, false),
      })
    },
    content: (delivery: Delivery, content: Content): OutgoingRequest => {
      const found = hidden(delivery, content)
      return {
        ...outgoing(content, found, true),
        ...(found.body === undefined ? {} : readBody(found.body)),
        ...(found.masked ? { masked: true as const } : {}),
      }
    },
  }
}

const hideText = (text: string, hide: HideValues | undefined): string =>
  hide === undefined ? text : redactText(text, hide)

/** `hide`: applied to what may hold values of the message. */
function toView(delivery: Delivery, hide: (text: string) => string): DeliveryView {
  const { id, messageId, endpointId, endpoint, requestId, item, target, orderKey, state, acceptedAt } = delivery
  const { endedAt, dueAt, attempts, lastAttempts, bytes } = delivery
  const last = lastAttempts.at(-1)
  return omitUndefined({
    id,
    messageId,
    endpointId,
    endpoint,
    request: requestId,
    item,
    target,
    key: orderKey === undefined ? undefined : hide(orderKey),
    state,
    acceptedAt,
    endedAt,
    dueAt,
    attempts,
    lastAttempt: last && toAttempt(last, hide),
    bytes,
  })
}

const toAttempt = (attempt: DeliveryAttempt, hide: (text: string) => string): DeliveryAttempt =>
  attempt.message === undefined ? attempt : { ...attempt, message: hide(attempt.message) }

function readBody(body: Uint8Array): Readonly<{ body: string } | { bodyBase64: string }> {
  try {
    return { body: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body) }
  } catch {
    return { bodyBase64: Buffer.from(body).toString('base64') }
  }
}
