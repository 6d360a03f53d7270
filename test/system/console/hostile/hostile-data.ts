/** A service that holds each hostile text at every place that takes it. */
import assert from 'node:assert/strict'
import type { JsonObject } from '../../../../src/core/json.ts'
import { call } from '../../../support/inbound/http/management/call.ts'
import { endpointDocument, type Service } from '../../../support/service.ts'
import { isOneLine, LONG_NAME, PAYLOADS, type Payload } from './hostile-payloads.ts'

const TYPE = { 'content-type': 'application/json' }

async function ask<Answer = JsonObject>(service: Service, method: string, path: string, body: object): Promise<Answer> {
  const reply = await call(service.adminUrl, method, path, { headers: TYPE, body: JSON.stringify(body) })
  assert.ok(reply.status < 300, `${method} ${path}: ${reply.status} ${reply.text}`)
  return reply.json<Answer>()
}

export type Group = Readonly<{ key: string; endpoint: string }>
export type Planted = Readonly<{
  id: string
  message: string
  open: Group | undefined
  marked: Group | undefined
  plan: string
  key: string
}>

/** Of the endpoint whose pages are opened. */
export const TITLE: Payload = {
  text: 'Target \u202e<img src=x onerror=alert(0)>',
  shown: 'Target U+202E<img src=x onerror=alert(0)>',
}

export const texts = PAYLOADS.map(({ text }) => text)

/** Puts every payload at every place that takes it. */
export async function plant(service: Service, upstream: string): Promise<Planted> {
  const create = PAYLOADS.map(({ text }, index) => ({
    op: 'create',
    document: endpointDocument({
      name: text,
      description: text,
      labels: { of: text },
      endpoint: { pattern: `/hostile/${index}` },
      inputValidation: { type: 'object', required: ['missing'], errorMessage: text },
      messageKeys: { of: 'requestBody.of' },
    }),
  }))
  const target = endpointDocument({
    name: TITLE.text,
    endpoint: { pattern: '/target' },
    constants: Object.fromEntries(texts.filter((text) => text !== '__proto__').map((text) => [text, text])),
    requests: { response: [{ id: 'upstream', config: { method: 'POST', url: `${upstream}/` } }] },
  })
  const operations = [...create, { op: 'create', document: target }]
  const { results } = await ask<{ results: { id: string }[] }>(service, 'POST', '/endpoints/batch', { operations })
  const id = results.at(-1)?.id ?? ''
  for (const note of texts) {
    const document = { ...target, description: note }
    await ask(service, 'POST', '/endpoints/batch', { note, operations: [{ op: 'replace', id, document }] })
  }
  const given = { message: { body: {} } }
  // Some names of tests are reserved.
  const tests = texts.map((text) => ({ name: `of ${text}`, given, expect: { answer: { body: { expected: text } } } }))
  await ask(service, 'PUT', `/endpoints/${id}/tests`, { tests })

  const send = (path: string, body: string) => service.fetch(path, { method: 'POST', headers: HEADERS, body })
  await Promise.all(texts.map((of, index) => send(`/hostile/${index}`, JSON.stringify({ of }))))
  const query = new URLSearchParams(texts.map((text): [string, string] => [text, text]))
  const reply = await send(`/target?${query}`, BODY)
  assert.equal(reply.status, 200, reply.text)

  const { groups } = await groupsOf(service)
  assert.equal(groups.length, PAYLOADS.length)
  const [open, ...marked] = groups
  await Promise.all(
    marked.map(({ key, endpoint: note }) =>
      ask(service, 'PUT', `/messages/groups/${key}`, { state: 'acknowledged', note }),
    ),
  )
  await Promise.all(texts.map((error) => ask(service, 'POST', '/messages/replay', { error, from: '-1h' })))
  const plan = await ask<{ id: string }>(service, 'POST', '/messages/replay', {})
  let key = ''
  for (const { text } of PAYLOADS.filter(isOneLine)) {
    const headers = { ...TYPE, ...(key !== '' && { authorization: `Bearer ${key}` }) }
    const body = JSON.stringify({ name: text.slice(0, 100), roles: ['admin'] })
    const made = await call(service.adminUrl, 'POST', '/keys', { headers, body })
    assert.equal(made.status, 201, made.text)
    key ||= made.json<{ key: string }>().key
  }
  const message = reply.headers.get('x-crosswalk-message-id') ?? ''
  return { id, message, open, marked: marked[0], plan: plan.id, key }
}

/** Fetch sends a header of printable ASCII only. */
const HEADERS = {
  ...TYPE,
  ...Object.fromEntries(
    texts.filter((text) => /^[\x20-\x7e]+$/.test(text)).map((text, index) => [`x-hostile-${index}`, text]),
  ),
}

/** Written by hand: an object of JavaScript would not keep a member named `__proto__`. */
const BODY = `{${[...texts, LONG_NAME].map((text) => `${JSON.stringify(text)}:${JSON.stringify(text)}`).join(',')}}`

async function groupsOf({ adminUrl }: Service) {
  const reply = await call(adminUrl, 'GET', '/messages/groups')
  assert.equal(reply.status, 200, reply.text)
  return reply.json<{ groups: readonly Group[] }>()
}
