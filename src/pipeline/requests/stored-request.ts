/**
 * Requests of durable deliveries: stored with references in place of secrets, and made ready for each attempt. What the
 * document has and what the message has are kept apart, so that no text of a message is ever read as a reference.
 */
import type { DeliveryRequest } from '../../core/deliveries/delivery.ts'
import { Failure } from '../../core/failure.ts'
import { collectInto } from '../../core/lint.ts'
import type { PreparedRequest } from '../../core/ports/outbound-port.ts'
import type { SecretSource } from '../../core/secrets/secrets.ts'
import type { ResponseRequest } from '../../document/schema/schema.ts'
import { appendEncoded, parseUrlTemplate, type UrlTemplate } from '../../language/url-template.ts'
import { targetNamed } from '../../outbound/targets.ts'
import { compileAuth } from './request-auth.ts'
import { collectUrlSecrets, compileHeaders, createSecretCollector } from './secret-references.ts'

type Auth = NonNullable<ResponseRequest['config']>['auth']

/**
 * In: a request as it is stored, and the present values of secrets. Out: the request as it would have been sent with the
 * message. Fails with SECRET_UNAVAILABLE, and with PARAMETER_INVALID if a secret makes another URL of it.
 */
export function prepareStored(request: DeliveryRequest, secrets: SecretSource): PreparedRequest {
  // It was checked when the document was registered.
  const lint = collectInto([])
  const { method, url, query, headers, values, key } = request
  const whole = (filled: string) => (query === undefined ? filled : appendEncoded(filled, query))
  const template = takesTemplate(request) ? parseStored(url) : undefined
  const readHeaders = compileHeaders(headers, secrets, lint.at('config', 'headers'))
  // As it is in the document, which is where it was stored from.
  const readAuth = compileAuth(request.auth as Auth, secrets, parseStored, lint.at('config', 'auth'))
  const refers = (template?.references.length ?? 0) > 0
  if (!refers && readHeaders === undefined && readAuth === undefined) {
    return {
      method,
      url: whole(url),
      headers: { ...headers, ...values },
      key,
      shownUrl: whole(url),
      secrets: undefined,
    }
  }
  const collector = createSecretCollector(secrets)
  const filled = refers && template !== undefined ? fillSecrets(template, collector) : url
  const authed = readAuth?.(collector)
  return {
    method,
    url: whole(filled),
    headers: { ...(readHeaders?.(collector.resolve) ?? headers), ...authed?.headers, ...values },
    key,
    shownUrl: whole(url),
    secrets: collector.values,
    ...(authed && { auth: authed.auth }),
  }
}

const takesTemplate = ({ to }: DeliveryRequest): boolean => {
  const { own, checkUrl } = targetNamed(to.target)
  return own === undefined && checkUrl === undefined
}

function parseStored(url: string): UrlTemplate {
  const template = parseUrlTemplate(url, [])
  if (template.ok) return template.value
  throw new Failure('PARAMETER_INVALID', template.message, { path: 'config.url' })
}

function fillSecrets(template: UrlTemplate, collector: ReturnType<typeof createSecretCollector>): string {
  const filled = template.fill({}, collectUrlSecrets(template, collector, 'config.url'))
  if (filled.ok) return filled.value
  throw new Failure('PARAMETER_INVALID', filled.message, { path: 'config.url' })
}
