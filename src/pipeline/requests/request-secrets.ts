/** The secrets of a request, resolved for each time that it is sent: with a message, or at each attempt of a delivery. */
import type { LintSink } from '../../core/lint.ts'
import type { PreparedRequest } from '../../core/ports/outbound-port.ts'
import type { Reference, SecretSource } from '../../core/secrets/secrets.ts'
import type { UrlTemplate } from '../../language/url-template.ts'
import { type Auth, compileAuth } from './request-auth.ts'
import { collectUrlSecrets, compileHeaders, createSecretCollector } from './secret-references.ts'

/** What of a request the document has: its URL, its headers as written, and `config.auth`. */
type Documented = Readonly<{ url: UrlTemplate; headers: Readonly<Record<string, string>>; auth: Auth | undefined }>

/** What of a request the message has. `values`: headers, which win over those of the document. */
type Filled = Pick<PreparedRequest, 'method' | 'key' | 'shownUrl'> &
  Readonly<{
    values: Readonly<Record<string, string>> | undefined
    /** The URL with the values of its references. */
    fillUrl(resolve: (reference: Reference) => string): string
  }>

/**
 * Lints, with `lint` at `config`: references and `auth`, whose URLs `compileUrl` compiles. What it gives fails with
 * SECRET_UNAVAILABLE, and as `fillUrl` does.
 */
export function compileSecrets(
  { url, headers, auth }: Documented,
  source: SecretSource,
  compileUrl: (text: string, lint: LintSink) => UrlTemplate,
  lint: LintSink,
): (filled: Filled) => PreparedRequest {
  const texts = lowerCaseNames(headers)
  const readHeaders = compileHeaders(headers, source, lint.at('headers'))
  const readAuth = compileAuth(auth, source, compileUrl, lint.at('auth'))
  const refersInUrl = url.references.length > 0
  const refers = refersInUrl || readHeaders !== undefined || readAuth !== undefined
  const urlPath = lint.at('url').path
  return ({ method, key, shownUrl, values, fillUrl }) => {
    if (!refers) {
      const carried = values === undefined ? texts : { ...texts, ...values }
      return { method, url: shownUrl, headers: carried, key, shownUrl, secrets: undefined }
    }
    const collector = createSecretCollector(source)
    const authed = readAuth?.(collector)
    return {
      method,
      url: refersInUrl ? fillUrl(collectUrlSecrets(url, collector, urlPath)) : shownUrl,
      headers: { ...(readHeaders?.(collector.resolve) ?? texts), ...authed?.headers, ...values },
      key,
      shownUrl,
      secrets: collector.values,
      ...(authed && { auth: authed.auth }),
    }
  }
}

/** In: headers of the document. Out: the same by lower-case name, as requests have them. */
export const lowerCaseNames = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).map(([name, text]) => [name.toLowerCase(), text]))
