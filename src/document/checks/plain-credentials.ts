/**
 * Warns of credentials in the document: every reader of the document and its versions sees them, and a new credential
 * requires a new document.
 */
import { isObject, type Json } from '../../core/json.ts'
import type { LintSink } from '../../core/lint.ts'
import { EXAMPLE_REFERENCES, isSecretName, namesValue, referencesIn } from '../../core/secrets/secrets.ts'
import type { Endpoint, LookupRequest, ResponseRequest } from '../schema/schema.ts'
import { UNKNOWN } from '../schema/schema-fields.ts'

const ADVICE = `refer to it as ${EXAMPLE_REFERENCES} instead.`
/** No reference is filled there. */
const ADVICE_AROUND_VALUE = `write ${EXAMPLE_REFERENCES} in "constants", and join it to the value in an "expression" instead.`
const SCHEME = /^(?:basic|bearer)\s+\S/i
const URL_WITH_PASSWORD = /^[a-z][a-z0-9+.-]*:\/\/[^/?#@\s]*:[^/?#@\s]+@/i

/** Lints, as warnings: credentials of `auth`, and values of headers, of query parameters and of constants that look like credentials. */
export function lintCredentials({ constants, requests }: Endpoint, lint: LintSink): void {
  lintConstant(constants, lint.at('constants'))
  for (const kind of ['lookup', 'response'] as const) {
    for (const [index, { config }] of requests[kind].entries())
      lintConfig(config, lint.at('requests', kind, index, 'config'))
  }
  for (const [index, { delivery }] of requests.response.entries()) {
    const isPlain = [delivery?.sign?.secret ?? []].flat().some((secret) => isLiteral(secret) && secret !== UNKNOWN)
    if (isPlain)
      lint.at('requests', 'response', index, 'delivery', 'sign', 'secret').warning(`This is a credential; ${ADVICE}`)
  }
}

function lintConfig(config: LookupRequest['config'] | ResponseRequest['config'], lint: LintSink): void {
  for (const [name, value] of Object.entries(config?.headers ?? {})) {
    const isCredential = (text: string): boolean => isLiteral(text) && (isSecretName(name) || SCHEME.test(text))
    const sink = lint.at('headers', name)
    if (typeof value === 'string') {
      if (isCredential(value)) sink.warning(`The value looks like a credential; ${ADVICE}`)
      continue
    }
    for (const place of ['prefix', 'postfix'] as const) {
      const text = value[place] ?? ''
      if (!isCredential(text) || (place === 'prefix' && namesValue(text))) continue
      sink.at(place).warning(`The ${place} looks like a credential; ${ADVICE_AROUND_VALUE}`)
    }
  }
  const { basic, bearer, oauth2, tls } = config?.auth ?? {}
  const secrets = {
    'basic.password': basic?.password,
    bearer,
    'oauth2.clientSecret': oauth2?.clientSecret,
    'tls.key': tls?.key,
  }
  for (const [place, value = ''] of Object.entries(secrets)) {
    if (isLiteral(value) && value !== UNKNOWN) lint.at('auth').below(place).warning(`This is a credential; ${ADVICE}`)
  }
  const [, query = ''] = /\?([^#]*)/.exec(config?.url ?? '') ?? []
  for (const parameter of query.split('&')) {
    const [name = '', value = ''] = parameter.split('=', 2)
    if (isSecretName(name) && isLiteral(value) && !value.startsWith(':')) {
      lint.at('url').warning(`The query parameter "${name}" looks like a credential; ${ADVICE}`)
    }
  }
}

function lintConstant(value: Json, lint: LintSink): void {
  if (typeof value === 'string') {
    if (isLiteral(value) && looksLikeCredential(value)) {
      lint.warning(`The value looks like a credential; ${ADVICE}`)
    }
  } else if (Array.isArray(value)) for (const [index, item] of value.entries()) lintConstant(item, lint.at(index))
  else if (isObject(value)) for (const [name, inner] of Object.entries(value)) lintConstant(inner, lint.at(name))
}

/** Whether a text has the form of a credential, or of a URL with a password. */
export const looksLikeCredential = (value: string): boolean => SCHEME.test(value) || URL_WITH_PASSWORD.test(value)

const isLiteral = (value: string): boolean => value.trim() !== '' && referencesIn(value).length === 0
