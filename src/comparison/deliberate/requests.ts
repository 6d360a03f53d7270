/** Deliberate differences in the requests to other systems, and in what becomes of their answers. */
import { isObject, type Json, type JsonObject } from '../../domain/json.ts'
import { Unwritable } from '../../formats/body-faults.ts'
import { codecOfFormat, MEDIA_TYPES } from '../../formats/codecs.ts'
import type { Comparison } from '../compare-answers.ts'
import { isSame } from '../differences.ts'
import { type EndpointDocument, requestsOf } from '../endpoint-documents.ts'
import { failureCodeOf, mediaTypeOf, readBody } from '../received-answer.ts'
import { bodyOf, type DeliberateRule, errorOfPeer, failsWith, isOfAnswer, valueAt } from './deliberate-rule.ts'

export const REQUEST_RULES = {
  'url-values': {
    reason:
      'A URL parameter without a value, or with one that a URL cannot hold, is a failure; the peer sends the request all the same.',
    explains: ({ path, here }, comparison) =>
      failsWith('PARAMETER_INVALID', comparison) && (isOfAnswer(path) || here === undefined),
  },
  'url-encoding': {
    reason:
      'Values are percent-encoded in URLs, so that none can add a segment or a parameter; the peer writes them as they are.',
    explains: ({ path, peer, here }, comparison) =>
      /^\/calls\/.*\/url$/.test(path)
        ? isSameDecoded(peer, here)
        : isOfAnswer(path) && isLookupFailure(comparison) && hasValueToEncode(comparison),
  },
  primary: {
    reason: 'The answer of the response request that is marked as primary is returned alone; the peer drops the mark.',
    explains: ({ path }, { document, peer, here }) => {
      const id = document && primaryOf(document)
      const inner = id === undefined ? undefined : valueAt(peer.answer.value, [id])
      return inner !== undefined && isOfAnswer(path) && isSame(inner, here.answer.value)
    },
  },
  'failed-response': {
    reason:
      'Of several response requests, one without an answer holds an "error" with a sentence; with the peer it is a text.',
    explains: ({ path, peer, here }, { here: side }) =>
      side.answer.headers['x-crosswalk-status'] === 'partial' &&
      /^\/body\/[^/]+$/.test(path) &&
      typeof peer === 'string' &&
      isObject(here) &&
      typeof here.error === 'string',
  },
  'sent-type': {
    reason: 'Response requests get the output in the type of the endpoint; the peer sends JSON, whatever the type is.',
    explains: ({ path }, comparison) => isSentAsXml(path, comparison),
  },
  'answer-type': {
    reason: 'The media type is that of the answer; the peer declares its output type for any text.',
    explains: ({ path }, { peer, here }) =>
      path === '/contentType' && peer.answer.isUnread && isSame(peer.answer.value, here.answer.value),
  },
} as const satisfies Readonly<Record<string, DeliberateRule>>

/** RFC 3986 section 3.3: any other character than those of a segment. */
const NOT_IN_A_SEGMENT = /[^A-Za-z0-9\-._~!$&'()*+,;=:@]/

function primaryOf(document: EndpointDocument): string | undefined {
  const requests = requestsOf(document, 'response')
  const marked = requests.find(
    ({ primary, config }) => primary === true || (isObject(config) && config.primary === true),
  )
  return requests.length > 1 && typeof marked?.id === 'string' ? marked.id : undefined
}

function isSameDecoded(peer: Json | undefined, here: Json | undefined): boolean {
  return typeof peer === 'string' && typeof here === 'string' && decoded(peer) === decoded(here)
}

function decoded(url: string): string {
  const text = url.replaceAll('+', ' ')
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Whether the body of a call is the XML of the JSON that the peer sent. */
function isSentAsXml(path: string, { peer, here }: Comparison): boolean {
  const [, part, id = '', at, body] = path.split('/')
  const sent = peer.calls?.[id]?.[Number(at)]?.body
  if (part !== 'calls' || body !== 'body' || sent === undefined) return false
  try {
    const xml = Buffer.from(codecOfFormat('XML').build(sent))
    return isSame(readBody(xml, mediaTypeOf(MEDIA_TYPES.XML)).value, here.calls?.[id]?.[Number(at)]?.body)
  } catch (thrown) {
    if (thrown instanceof Unwritable) return false
    throw thrown
  }
}

/** Whether the lookup of the peer failed, and that of this service did not. */
function isLookupFailure(comparison: Comparison): boolean {
  const error = errorOfPeer(comparison) ?? ''
  return (
    /Incorrect status code|No response from lookup|unescaped characters/.test(error) &&
    failureCodeOf(comparison.here.answer) === undefined
  )
}

/** Whether a value of the message that goes into the path of a URL has a character that a path cannot hold. */
function hasValueToEncode(comparison: Comparison): boolean {
  const { document } = comparison
  if (document === undefined) return false
  return [...requestsOf(document, 'lookup'), ...requestsOf(document, 'response')].some(({ config }) => {
    const url = isObject(config) && isObject(config.params) && isObject(config.params.url) ? config.params.url : {}
    return Object.values(url).some((parameter) => {
      const value = isObject(parameter) ? valueOfPath(String(parameter.path), comparison) : undefined
      return typeof value === 'string' && NOT_IN_A_SEGMENT.test(value)
    })
  })
}

/** What a path of dotted names reads in the body or the query. */
function valueOfPath(path: string, comparison: Comparison): Json | undefined {
  const [root = '', ...names] = path.split('.')
  if (root === 'query') return valueAt(comparison.message.query as JsonObject, names)
  return root === 'payload' || root === 'requestBody' ? valueAt(bodyOf(comparison), names) : undefined
}
