/** The messages that `crosswalk compare` sends: files that end in `.message.json`. */

import { readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { readFault } from '../../src/core/files/files.ts'
import { ENDPOINT_METHODS } from '../../src/core/http.ts'
import { isObject, type Json, type JsonObject } from '../../src/core/json.ts'
import { type ComparedMessage, ComparisonImpossible, listFiles, readJsonFile } from './comparison.ts'

const MESSAGE_SUFFIX = '.message.json'

const FIELDS = ['name', 'method', 'path', 'query', 'headers', 'contentType', 'body']

/**
 * Reads every message below a folder, in the order of the paths of their files. A file has one message or an array.
 * Throws ComparisonImpossible with the file and the field at fault.
 */
export function readMessages(folder: string): readonly ComparedMessage[] {
  const named = listFiles(folder, MESSAGE_SUFFIX)
  if (named.length === 0) {
    throw new ComparisonImpossible(`${folder} has no file that ends in ${MESSAGE_SUFFIX}; each of them is a message.`)
  }
  const messages = named.flatMap((file) => readMessageFile(resolve(folder), file))
  if (messages.length > 0) return messages
  throw new ComparisonImpossible(`Nothing was compared: ${folder} has no message.`)
}

function readMessageFile(folder: string, file: string): readonly ComparedMessage[] {
  const content = readJsonFile(join(folder, file), file)
  const isList = Array.isArray(content)
  return (isList ? content : [content]).map((one: Json, at) => {
    const name = isList ? `${file}#${at + 1}` : file
    return parseMessage(one, name, (path) => readBodyFile(folder, join(dirname(join(folder, file)), path), name))
  })
}

function parseMessage(written: Json, name: string, readFile: (path: string) => Uint8Array): ComparedMessage {
  const wrong = (what: string) => new ComparisonImpossible(`${name}: ${what}`)
  if (!isObject(written)) throw wrong('a message is an object with "path", and "method", "query", "headers", "body".')
  const unknown = Object.keys(written).find((field) => !FIELDS.includes(field))
  if (unknown !== undefined) throw wrong(`a message has no field "${unknown}"; it may have ${FIELDS.join(', ')}.`)
  const { method = 'POST', path, query = {}, headers = {}, contentType, body } = written
  if (typeof method !== 'string' || !ENDPOINT_METHODS.some((known) => known === method.toUpperCase())) {
    throw wrong(`"method" must be one of ${ENDPOINT_METHODS.join(', ')}.`)
  }
  if (typeof path !== 'string' || !path.startsWith('/') || /[?#]/.test(path)) {
    throw wrong('"path" must start with "/" and have no query; "query" has that.')
  }
  if (!isTexts(query)) throw wrong('"query" must be an object of strings or arrays of strings.')
  if (!isObject(headers) || Object.values(headers).some((value) => typeof value !== 'string')) {
    throw wrong('"headers" must be an object of strings.')
  }
  if (contentType !== undefined && typeof contentType !== 'string') throw wrong('"contentType" must be a string.')
  const own = Object.fromEntries(
    Object.entries(headers).map(([header, value]) => [header.toLowerCase(), String(value)]),
  )
  const bytes = readBody(body, readFile)
  const type = contentType ?? own['content-type'] ?? (bytes === undefined ? undefined : 'application/json')
  return {
    name: typeof written.name === 'string' ? `${name} (${written.name})` : name,
    method: method.toUpperCase(),
    path,
    query,
    headers: { ...own, ...(type === undefined ? {} : { 'content-type': type }) },
    body: bytes,
  }
}

const isTexts = (query: Json): query is JsonObject & ComparedMessage['query'] =>
  isObject(query) &&
  Object.values(query).every((value) =>
    Array.isArray(value) ? value.every((one) => typeof one === 'string') : typeof value === 'string',
  )

/** A text is sent unchanged, `{ "$file": … }` as the bytes of that file, any other value as JSON. */
function readBody(body: Json | undefined, readFile: (path: string) => Uint8Array): Uint8Array | undefined {
  if (body === undefined) return undefined
  if (typeof body === 'string') return Buffer.from(body)
  if (isObject(body) && typeof body.$file === 'string' && Object.keys(body).length === 1) return readFile(body.$file)
  return Buffer.from(JSON.stringify(body))
}

/** A message of somebody else must not send any file of this machine. */
function readBodyFile(folder: string, path: string, name: string): Uint8Array {
  const place = relative(folder, path)
  if (place.startsWith(`..${sep}`) || place === '..' || resolve(folder, place) !== resolve(path)) {
    throw new ComparisonImpossible(`${name}: "$file" must name a file below the folder of the messages.`)
  }
  try {
    return readFileSync(path)
  } catch (thrown) {
    throw new ComparisonImpossible(`${name}: ${readFault(place, thrown)}`)
  }
}
