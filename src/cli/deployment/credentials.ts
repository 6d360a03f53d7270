/**
 * Finds credentials in endpoint documents by their place: what commands print and write has none. Where a document refers to
 * a secret (`${env:NAME}`), nothing is found.
 */

import { isObject, type Json } from '../../core/json.ts'
import { isSecretName, isSecretParameter, REDACTED, referencesIn } from '../../core/secrets/secrets.ts'
import type { LocatedChange } from '../../document/diff/document-diff.ts'
import type { DocumentLocation } from '../../document/diff/document-locations.ts'

/** In: a credential and its place. Out: the text that replaces it. */
export type ReplaceCredential = (value: string, location: DocumentLocation) => string

/** In: the value at a place of a document. Out: the value with each credential replaced. */
export function replaceCredentials(value: Json, location: DocumentLocation, replace: ReplaceCredential): Json {
  if (typeof value === 'string') return replaceInText(value, location, replace)
  if (typeof value === 'number')
    return isSecretLocation(textSegments(location)) ? replace(String(value), location) : value
  if (Array.isArray(value)) {
    return value.map((item: Json, index) => replaceCredentials(item, [...location, toSegment(item, index)], replace))
  }
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, replaceCredentials(member, [...location, name], replace)]),
  )
}

/** The change as it may be printed. */
export function hideCredentials(change: LocatedChange): LocatedChange {
  const hidden = (value: Json) => replaceCredentials(value, change.location, () => REDACTED)
  return {
    ...change,
    ...(change.from === undefined ? {} : { from: hidden(change.from) }),
    ...(change.to === undefined ? {} : { to: hidden(change.to) }),
  }
}

const toSegment = (item: Json, index: number): DocumentLocation[number] =>
  isObject(item) && typeof item.id === 'string' ? { id: item.id } : index

const textSegments = (location: DocumentLocation): readonly string[] =>
  location.filter((segment): segment is string => typeof segment === 'string')

/** A text after it is one word, so that "Basic metabolic panel" is none. */
const SCHEME = /^(\s*(?:basic|bearer|token|apikey)\s+)(\S+)(\s*)$/i
const PASSWORD = /^(\s*[a-z][a-z0-9+.-]*:\/\/[^/?#@\s:]*:)([^/?#@\s]+)(?=@)/i
const PARAMETER = /([?&])([^=&#]+)=([^&#]+)/g

function replaceInText(text: string, location: DocumentLocation, replace: ReplaceCredential): string {
  const names = textSegments(location)
  if (!mayHoldCredentials(names) || text.trim() === '' || referencesIn(text).length > 0) return text
  const [, scheme, token, end] = SCHEME.exec(text) ?? []
  if (scheme !== undefined && token !== undefined) return `${scheme}${replace(token, location)}${end}`
  if (isSecretLocation(names)) return replace(text, location)
  return text
    .replace(PASSWORD, (_whole, before: string, password: string) => before + replace(password, location))
    .replace(PARAMETER, (whole, before: string, name: string, value: string) =>
      isSecretParameter(name) && !value.startsWith(':')
        ? `${before}${name}=${replace(value, [...location, name])}`
        : whole,
    )
}

/** Other parts of a document are for people, or are code, schemas and paths. */
const mayHoldCredentials = ([field, ...names]: readonly string[]): boolean =>
  field === 'constants' ||
  field === 'auth' ||
  (field === 'requests' && REQUEST_TEXTS.some((one) => names.includes(one)))

const REQUEST_TEXTS = ['url', 'headers', 'auth', 'prefix', 'postfix']
const AUTH_SECRETS: ReadonlySet<string | undefined> = new Set(['password', 'bearer', 'clientSecret', 'key'])

/** The whole text there is a credential, whatever it looks like. */
function isSecretLocation([field, ...names]: readonly string[]): boolean {
  if (field === 'constants') return names.some(isSecretName)
  if (field === 'auth') return names.includes('keys') || names.includes('users') || names.at(-1) === 'secret'
  if (field !== 'requests') return false
  if (names[2] === 'auth') return AUTH_SECRETS.has(names.at(-1))
  const from = names.findIndex((name) => name === 'headers' || name === 'params')
  return from !== -1 && names.slice(from + 1).some(isSecretName)
}
