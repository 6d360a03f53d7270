/** Credentials that an import moves out of the documents: the values and the names of the environment variables for them. */

import { isObject, type Json } from '../../core/json.ts'
import { isSecretName, isSecretParameter, REDACTED, withReferences } from '../../core/secrets/secrets.ts'

/** A credential that was moved out of the documents. */
export type SecretLine = Readonly<{ name: string; value: string }>

export type CredentialNames = Readonly<{
  /**
   * The reference that replaces a value: the same for the same value. `location` gives the name, such as endpoint, request,
   * header.
   */
  refer(value: string, ...location: readonly string[]): string
  lines(): readonly SecretLine[]
  /** A value for a report: credentials replaced by their references, and what looks like one by a mark. */
  shown(value: Json, name?: string): Json
}>

/** Names that secrets may have by default (SECRETS_ALLOW). */
const PREFIX = 'CROSSWALK_SECRET'
const MAX_PART_LENGTH = 40

export function createCredentialNames(): CredentialNames {
  const names = new Map<string, string>()
  const taken = new Set<string>()
  const references = () => new Map([...names].map(([value, name]) => [value, reference(name)]))
  const shown = (value: Json, name = ''): Json => {
    if (typeof value === 'string') return shownText(withReferences(value, references()), name)
    if (Array.isArray(value)) return value.map((item: Json) => shown(item, name))
    if (!isObject(value)) return isSecretName(name) && typeof value === 'number' ? REDACTED : value
    return Object.fromEntries(Object.entries(value).map(([inner, item]) => [inner, shown(item, inner)]))
  }
  return {
    refer(value, ...location) {
      const known = names.get(value)
      if (known !== undefined) return reference(known)
      const base = [PREFIX, ...location.map(namePart)].filter((part) => part !== '').join('_')
      let name = base
      for (let number = 2; taken.has(name); number += 1) name = `${base}_${number}`
      taken.add(name)
      names.set(value, name)
      return reference(name)
    },
    lines: () => [...names].map(([value, name]) => ({ name, value })),
    shown,
  }
}

const reference = (name: string): string => `\${env:${name}}`

const namePart = (text: string): string =>
  text
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_')
    .slice(0, MAX_PART_LENGTH)
    .replaceAll(/^_+|_+$/g, '')

const SCHEME = /^(\s*(?:basic|bearer|token|apikey)\s+)(?!\$\{)\S.*$/i
const USER_INFO = /^(\s*[a-z][a-z0-9+.-]*:\/\/)[^/?#@\s]*@/i

function shownText(text: string, name: string): string {
  if (isSecretName(name) && text !== '' && !text.includes('${')) return REDACTED
  return text
    .replace(SCHEME, `$1${REDACTED}`)
    .replace(USER_INFO, `$1${REDACTED}@`)
    .replaceAll(/([?&])([^=&#]+)=([^&#]*)/g, (whole, before, parameter, value) =>
      isSecretParameter(parameter) && !value.includes('${') ? `${before}${parameter}=${REDACTED}` : whole,
    )
}
