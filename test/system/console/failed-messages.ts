/** A service with messages that failed and messages that were done, and the upstream that they are sent on to. */
import type { TestContext } from 'node:test'
import { json, type Service, type StoredEndpoint, startUpstream, type Upstream } from '../../support/service.ts'
import { type ConsoleOptions, type ConsolePage, openConsole } from './console-page.ts'

export type FailedMessages = Readonly<{
  service: Service
  upstream: Upstream
  endpoint: StoredEndpoint
  /** Ids of messages, in the order in which they came. */
  failed: readonly string[]
  done: string
}>

export const ADMISSIONS = {
  name: 'Admissions',
  endpoint: { pattern: '/admissions/:site' },
  messageKeys: { patient: 'requestBody.patient' },
  inputMapping: { 'requestBody.patient': 'subject' },
} as const

const strict = { type: 'object', required: ['patient', 'ward'] }

/** A console of a service that keeps the bodies of all messages, and the messages of `sendFailedMessages`. */
export async function openWithFailures(
  test: TestContext,
  count = 3,
  options: ConsoleOptions = {},
): Promise<ConsolePage & FailedMessages> {
  const opened = await openConsole(test, { env: { MESSAGE_LOG: 'all' }, ...options })
  return { ...opened, ...(await sendFailedMessages(test, opened.service, count)) }
}

/** `count` messages without a ward, which are refused, and one with it, which the upstream gets. */
export async function sendFailedMessages(test: TestContext, service: Service, count = 3): Promise<FailedMessages> {
  const upstream = await startUpstream(() => ({ bed: '7-12' }))
  test.after(upstream.stop)
  const endpoint = await service.register(documentFor(upstream, strict))
  const failed: string[] = []
  for (let sent = 0; sent < count; sent += 1) {
    failed.push(await send(service, '/admissions/north?day=1', { patient: `p-${sent}` }))
  }
  const done = await send(service, '/admissions/north', { patient: 'p-done', ward: '7' })
  return { service, upstream, endpoint, failed, done }
}

export const documentFor = (upstream: Upstream, inputValidation: object) => ({
  ...ADMISSIONS,
  inputValidation: { ...inputValidation },
  requests: { response: [{ id: 'beds', config: { method: 'POST', url: `${upstream.url}/beds` } }] },
})

/** Sends a message. Out: its id. */
export async function send(service: Service, path: string, body: object): Promise<string> {
  const { headers } = await service.fetch(path, json('POST', { ...body }))
  return headers.get('x-crosswalk-message-id') ?? ''
}

/** Registers the document in which the ward is not needed. */
export async function fixEndpoint({ service, upstream, endpoint }: FailedMessages): Promise<void> {
  const document = { ...documentFor(upstream, { type: 'object', required: ['patient'] }) }
  const full = { ...document, transformation: { input: 'JSON', output: 'JSON' } }
  const reply = await service.fetch(`/endpoints/${endpoint._id}`, json('PUT', full))
  if (reply.status !== 200) throw new Error(`the document was refused: ${reply.text}`)
}
