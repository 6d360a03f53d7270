/** The name, the route and the formats of a document. */
import { isObject } from '../../domain/json.ts'
import { withoutLastSlash } from '../../language/route-pattern.ts'
import type { DocumentPart } from './draft.ts'

const FORMATS = ['input', 'output'] as const

export function convertRoute(draft: DocumentPart): void {
  convertPattern(draft.at('endpoint', 'pattern'))
  upperCase(draft.at('endpoint', 'method'))
  const formats = draft.at('transformation')
  if (formats.value === undefined) {
    formats.set({}, { level: 'differs', reason: 'Without formats, every message failed there; here it is JSON.' })
  }
  if (!isObject(formats.value)) return
  for (const name of FORMATS) upperCase(formats.at(name))
  const { value: method } = draft.at('endpoint', 'method')
  const hasBody = method === undefined || method === 'POST' || method === 'PUT' || draft.at('kafkaConsumerTopic').value
  const reason = 'Without this format, every message failed there; here it is JSON.'
  if (formats.at('output').value === undefined) formats.at('output').set('JSON', { level: 'differs', reason })
  if (hasBody && formats.at('input').value === undefined) formats.at('input').set('JSON', { level: 'differs', reason })
}

function convertPattern(pattern: DocumentPart): void {
  const { value } = pattern
  if (typeof value !== 'string') return
  const trimmed = value.trim()
  const started = trimmed.startsWith('/') ? trimmed : `/${trimmed}`
  if (started !== value)
    pattern.set(started, { level: 'changed', reason: 'A pattern starts with "/" and has no spaces.' })
  const ended = withoutLastSlash(started)
  if (ended === started) return
  pattern.set(ended, {
    level: 'changed',
    reason:
      'A "/" at the end makes no difference here: the pattern matches the path that it matched there, and the path without it.',
  })
}

function upperCase(part: DocumentPart): void {
  const { value } = part
  if (typeof value !== 'string' || value === value.trim().toUpperCase()) return
  part.set(value.trim().toUpperCase(), { level: 'changed', reason: 'The value is written in upper case.' })
}
