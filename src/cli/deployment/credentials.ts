/**
 * Finds credentials in endpoint documents by their place: what commands print and write has none. Where a document refers to
 * a secret (`${env:NAME}`), nothing is found.
 */

import { isObject, type Json } from '../../core/json.ts'
import { isSecretName, isSecretParameter, REDACTED, referencesIn } from '../../core/secrets/secrets.ts'
import type { PlaceChange } from '../../document/diff/document-diff.ts'
import type { DocumentPlace } from '../../document/diff/document-places.ts'

/** In: a credential and its place. Out: the text that stands in for it. */
export type ReplaceCredential = (value: string, place: DocumentPlace) => string

/** In: the value at a place of a document. Out: the value with each credential replaced. */
export function replaceCredentials(value: Json, place: DocumentPlace, replace: ReplaceCredential): Json {
  if (typeof value === 'string') return replaceInText(value, place, replace)
  if (typeof value === 'number') return isSecretPlace(namesOf(place)) ? replace(String(value), place) : value
  if (Array.isArray(value)) {
    return value.map((item: Json, index) => replaceCredentials(item, [...place, segmentOf(item, index)], replace))
  }
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, replaceCredentials(member, [...place, name], replace)]),
  )
}

/** The change as it may be printed. */
export function hideCredentials(change: PlaceChange): PlaceChange {
  const hidden = (value: Json) => replaceCredentials(value, change.place, () => REDACTED)
  return {
    ...change,
    ...(change.from === undefined ? {} : { from: hidden(change.from) }),
    ...(change.to === undefined ? {} : { to: hidden(change.to) }),
  }
}

const segmentOf = (item: Json, index: number): DocumentPlace[number] =>
  isObject(item) && typeof item.id === 'string' ? { id: item.id } : index

const namesOf = (place: DocumentPlace): readonly string[] =>
  place.filter((segment): segment is string => typeof segment === 'string')

/** A text after it is one word, so that "Basic metabolic panel" is none. */
const SCHEME = /^(\s*(?:basic|bearer|token|apikey)\s+)(\S+)(\s*)$/i
const PASSWORD = /^(\s*[a-z][a-z0-9+.-]*:\/\/[^/?#@\s:]*:)([^/?#@\s]+)(?=@)/i
const PARAMETER = /([?&])([^=&#]+)=([^&#]+)/g

function replaceInText(text: string, place: DocumentPlace, replace: ReplaceCredential): string {
  const names = namesOf(place)
  if (!mayHoldCredentials(names) || text.trim() === '' || referencesIn(text).length > 0) return text
  const [, scheme, token, end] = SCHEME.exec(text) ?? []
  if (scheme !== undefined && token !== undefined) return `${scheme}${replace(token, place)}${end}`
  if (isSecretPlace(names)) return replace(text, place)
  return text
    .replace(PASSWORD, (_whole, before: string, password: string) => before + replace(password, place))
    .replace(PARAMETER, (whole, before: string, name: string, value: string) =>
      isSecretParameter(name) && !value.startsWith(':')
        ? `${before}${name}=${replace(value, [...place, name])}`
        : whole,
    )
}

/** Other parts of a document are for people, or are code, schemas and paths. */
const mayHoldCredentials = ([field, ...names]: readonly string[]): boolean =>
  field === 'constants' ||
  field === 'auth' ||
  (field === 'requests' && REQUEST_TEXTS.some((one) => names.includes(one)))

const REQUEST_TEXTS = ['url', 'headers', 'prefix', 'postfix']

/** Whether the whole text is a credential, whatever it looks like. */
function isSecretPlace([field, ...names]: readonly string[]): boolean {
  if (field === 'constants') return names.some(isSecretName)
  if (field === 'auth') return names.includes('keys') || names.includes('users') || names.at(-1) === 'secret'
  if (field !== 'requests') return false
  const from = names.findIndex((name) => name === 'headers' || name === 'params')
  return from !== -1 && names.slice(from + 1).some(isSecretName)
}
