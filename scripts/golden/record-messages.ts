/** Sends each message, and records its answer, what it sent to other systems, and its log entry. */
import { join } from 'node:path'
import { type Answer, describeAnswer, send, sendRaw } from './http-call.ts'
import { MESSAGE_GROUPS, type Message, type MessageGroup } from './messages.ts'
import type { Recording } from './recording.ts'
import { type Service, startService, until } from './tree-process.ts'
import { Upstream } from './upstream.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

type Told = Readonly<{ title: string; said: readonly string[]; id: string | undefined }>

export async function recordMessages(recording: Recording): Promise<void> {
  for (const group of MESSAGE_GROUPS) await recordGroup(recording, group)
}

async function recordGroup(recording: Recording, { name, env, messages }: MessageGroup): Promise<void> {
  const upstream = await Upstream.start()
  recording.stable.name(String(upstream.port), 'upstream port')
  const service = await startService(recording.tree, join(recording.work, name), recording.stable, env)
  const told: Told[] = []
  for (const message of messages) told.push(await tell(service, upstream, message))
  for (const { title, said, id } of told) {
    const entry =
      id === undefined
        ? []
        : ['', 'LOG ENTRY', describeAnswer(await until(service.admin, `/messages/${id}`, () => true))]
    recording.write(`messages/${name}.txt`, title, [...said, ...entry].join('\n'))
    recording.count()
  }
  const list = await send(service.admin, { method: 'GET', path: '/messages?limit=20' })
  recording.write(`messages/${name}.txt`, 'GET /messages?limit=20', describeAnswer(list))
  await service.stop()
  upstream.stop()
}

async function tell(
  service: Service,
  upstream: Upstream,
  { title, document, call, answers = {} }: Message,
): Promise<Told> {
  const said = document === undefined ? [] : await register(service, fill(document, service, upstream))
  upstream.give(answers)
  if (typeof call === 'string')
    return { title, said: [...said, call, '', await sendRaw(service.message, call)], id: undefined }
  const answer = await send(service.message, fill(call, service, upstream)).catch(
    (thrown: Error): Answer => ({ status: 0, headers: [], body: thrown.message }),
  )
  const received = upstream.takeReceived()
  const sent = received.length === 0 ? [] : ['', 'SENT TO OTHER SYSTEMS', ...received]
  return {
    title: `${title}\n${call.method} ${call.path} ${JSON.stringify(call.headers ?? {}).slice(0, 300)}`,
    said: [...said, describeAnswer(answer), ...sent],
    id: answer.headers.find(([name]) => name === 'x-crosswalk-message-id')?.[1],
  }
}

/** Anew, so that no message depends on what an earlier one left. Says something where the document is refused. */
async function register({ admin }: Service, document: Readonly<Record<string, unknown>>): Promise<readonly string[]> {
  const query = `/endpoints?name=${encodeURIComponent(String(document.name))}`
  const [old] = JSON.parse((await send(admin, { method: 'GET', path: query })).body) as { _id: string }[]
  if (old !== undefined) await send(admin, { method: 'DELETE', path: `/endpoints/${old._id}`, headers: JSON_TYPE })
  const answer = await send(admin, { method: 'POST', path: '/endpoints', headers: JSON_TYPE, body: document })
  return answer.status === 201 ? [] : ['THE DOCUMENT', describeAnswer(answer), '', 'THE MESSAGE']
}

function fill<T>(value: T, { message, admin }: Service, { port }: Upstream): T {
  const text = JSON.stringify(value)
    .replaceAll('{upstream}', `127.0.0.1:${port}`)
    .replaceAll('{message}', new URL(message).host)
    .replaceAll('{admin}', new URL(admin).host)
  return JSON.parse(text) as T
}
