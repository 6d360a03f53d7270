/**
 * Requests of durable deliveries: stored with references in place of secrets, and made ready for each attempt. What the
 * document has and what the message has are kept apart, so that no text of a message is ever read as a reference.
 */
import type { DeliveryRequest } from '../../core/deliveries/delivery.ts'
import { Failure } from '../../core/failure.ts'
import { collectInto } from '../../core/lint.ts'
import type { PreparedRequest } from '../../core/ports/outbound-port.ts'
import type { SecretSource } from '../../core/secrets/secrets.ts'
import { appendEncoded, NOWHERE, parseUrlTemplate, type UrlTemplate } from '../../language/url-template.ts'
import { targetNamed } from '../../outbound/targets.ts'
import type { Auth } from './request-auth.ts'
import { compileSecrets } from './request-secrets.ts'

/**
 * In: a request as it is stored, and the present values of secrets. Out: the request as it would have been sent with the
 * message. Fails with SECRET_UNAVAILABLE, and with PARAMETER_INVALID if a secret makes another URL of it.
 */
export function prepareStored(request: DeliveryRequest, secrets: SecretSource): PreparedRequest {
  const { method, url, query, headers, values, key } = request
  const template = takesTemplate(request) ? parseStored(url) : NOWHERE
  const documented = { url: template, headers, auth: request.auth as Auth | undefined }
  // It was checked when the document was registered.
  const complete = compileSecrets(documented, secrets, parseStored, collectInto([]).at('config'))
  return complete({
    method,
    key,
    shownUrl: appendEncoded(url, query),
    values,
    fillUrl: (resolve) => {
      const filled = template.fill({}, resolve)
      if (filled.ok) return appendEncoded(filled.value, query)
      throw new Failure('PARAMETER_INVALID', filled.message, { path: 'config.url' })
    },
  })
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
