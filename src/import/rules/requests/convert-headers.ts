/** The headers of a request, and credentials that the peer took from other fields. */
import { FRAMING_HEADERS } from '../../../domain/http.ts'
import { isObject } from '../../../domain/json.ts'
import { referencesIn } from '../../../domain/secrets/references.ts'
import { isSecretName } from '../../../domain/secrets/secrets.ts'
import { isHeaderName, isHeaderValue } from '../../../language/headers.ts'
import { type DocumentPart, textOf } from '../draft.ts'
import type { CredentialNames } from '../secret-names.ts'

/** In: `config` of a request. `place`: the endpoint and the request, for the names of secrets. */
export function convertHeaders(config: DocumentPart, secrets: CredentialNames, ...place: readonly string[]): void {
  const headers = config.at('headers')
  if (!isObject(headers.value)) return
  for (const header of headers.parts()) convertValue(header)
  dropRepeated(headers)
  for (const header of headers.parts()) moveCredential(header, secrets, place)
}

function convertValue(header: DocumentPart): void {
  const { value, name } = header
  if (value === null || value === undefined) {
    header.remove({ level: 'changed', reason: 'A header without a value was not sent there.' })
    return
  }
  if (FRAMING_HEADERS.has(name.toLowerCase())) {
    header.remove(
      name.toLowerCase() === 'host'
        ? { level: 'lost', reason: 'The service sets this header by the URL; another host cannot be named.' }
        : { level: 'changed', reason: 'The HTTP client sets this header itself, as it did there.' },
    )
    return
  }
  if (typeof value !== 'string') {
    const text = Array.isArray(value) ? value.map(textOf).join(', ') : textOf(value)
    header.set(text, { level: 'changed', reason: 'The value of a header is a text.' })
  }
  if (isHeaderName(name) && isHeaderValue(String(header.value))) return
  header.remove({
    level: 'lost',
    reason: 'No HTTP message can have such a header, so that every message failed there.',
  })
}

/** Of names that differ by case alone, the last one was sent. */
function dropRepeated(headers: DocumentPart): void {
  const last = new Map(headers.parts().map((header) => [header.name.toLowerCase(), header.name]))
  for (const header of headers.parts()) {
    if (last.get(header.name.toLowerCase()) === header.name) continue
    header.remove({
      level: 'changed',
      reason: 'A later header of the same name, in other letters, replaced this one there.',
    })
  }
}

const SCHEME = /^(\s*(?:basic|bearer|token|apikey)\s+)(\S.*?)\s*$/i

function moveCredential(header: DocumentPart, secrets: CredentialNames, place: readonly string[]): void {
  const { value, name } = header
  if (typeof value !== 'string' || value.trim() === '' || referencesIn(value).length > 0) return
  const [, scheme = '', token = value.trim()] = SCHEME.exec(value) ?? []
  if (scheme === '' && !isSecretName(name)) return
  const after = scheme + secrets.refer(token, ...place, name)
  header.set(after, { ...MOVED, after })
}

export const MOVED = {
  before: undefined,
  level: 'changed',
  reason: 'The credential is a reference now; its value is in the file of secrets that the import writes.',
} as const

/** Sets the header `Authorization` to a user and a password, in place of any that is there. */
export function setBasic(
  config: DocumentPart,
  user: string,
  password: string,
  secrets: CredentialNames,
  place: readonly string[],
): void {
  if (!isObject(config.at('headers').value)) config.at('headers').replace({})
  for (const header of config.at('headers').parts()) {
    if (header.name.toLowerCase() !== 'authorization') continue
    header.remove({
      level: 'changed',
      reason: 'The user and password of the request replaced this header there.',
      before: undefined,
    })
  }
  const token = Buffer.from(`${user}:${password}`).toString('base64')
  const after = `Basic ${secrets.refer(token, ...place, 'authorization')}`
  config.at('headers', 'Authorization').set(after, { ...MOVED, after })
}
