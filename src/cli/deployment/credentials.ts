/**
 * Finds credentials in endpoint documents by their place: what commands print and write has none. Where a document refers to
 * a secret (`${env:NAME}`), nothing is found.
 */

import { isObject, type Json } from '../../core/json.ts'
import { isSecretName, isSecretParameter, namesValue, REDACTED, referencesIn } from '../../core/secrets/secrets.ts'
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
  if (isSecretText(text, names)) return replace(text, location)
  return text
    .replace(PASSWORD, (_whole, before: string, password: string) => before + replace(password, location))
    .replace(PARAMETER, (whole, before: string, name: string, value: string) =>
      isSecretParameter(name) && !value.startsWith(':')
        ? `${before}${name}=${replace(value, [...location, name])}`
        : whole,
    )
}

/** Other parts of a document are for people, or are code, schemas and paths. */
const mayHoldCredentials = (names: readonly string[]): boolean =>
  names[0] === 'constants' || names[0] === 'auth' || (names[0] === 'requests' && requestText(names) !== undefined)

type RequestText = Readonly<{
  part: 'url' | 'auth' | 'headers' | 'params' | 'key'
  /** Of the header, the parameter, or the field of `auth`. */
  name?: string | undefined
}>

/** The part of a request that the text belongs to; undefined for the path and the expression of a value, and what is around them. */
function requestText([, , field, part, ...names]: readonly string[]): RequestText | undefined {
  if (field === 'key') return AROUND_VALUE.has(part) ? { part: 'key' } : undefined
  if (field !== 'config') return undefined
  if (part === 'auth') return { part, name: names.at(-1) }
  if (part === 'url') return { part }
  const [name, member] = part === 'params' ? names.slice(1) : names
  if (part === 'headers') return member === undefined || AROUND_VALUE.has(member) ? { part, name } : undefined
  return part === 'params' && AROUND_VALUE.has(member) ? { part, name } : undefined
}

/** The texts of a value of the message: the others say where it is. */
const AROUND_VALUE: ReadonlySet<string | undefined> = new Set(['prefix', 'postfix'])
const AUTH_SECRETS: ReadonlySet<string | undefined> = new Set(['password', 'bearer', 'clientSecret', 'key'])

const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----/

/** The whole text there is a credential, whatever it looks like. */
function isSecretText(text: string, names: readonly string[]): boolean {
  if (names[0] === 'requests' && names.at(-1) === 'prefix' && namesValue(text)) return false
  // A file with a certificate may hold its key too.
  return isSecretLocation(names) || (requestText(names)?.part === 'auth' && PRIVATE_KEY.test(text))
}

function isSecretLocation(location: readonly string[]): boolean {
  const [field, ...names] = location
  if (field === 'constants') return names.some(isSecretName)
  if (field === 'auth') return names.includes('keys') || names.includes('users') || names.at(-1) === 'secret'
  if (field !== 'requests') return false
  const { part, name } = requestText(location) ?? {}
  if (part === 'auth') return AUTH_SECRETS.has(name)
  return name !== undefined && isSecretName(name)
}
