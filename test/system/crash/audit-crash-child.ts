/**
 * Runs the service and changes its configuration until it is killed, announcing each change:
 * `audit-crash-child.ts <database url> <seed>`.
 */
import { endpointDocument, json, type Reply, type StoredEndpoint, startService } from '../../support/service.ts'
import { announce } from './announce.ts'
import { ABSENT } from './crash-rounds.ts'
import { createRandom } from './random.ts'

/** Each has its own endpoints and one call at a time. */
const STREAMS = 4
const MAX_ENDPOINTS_OF_A_STREAM = 4
const MAX_BATCH_SIZE = 6

const [url = '', seed = '0'] = process.argv.slice(2)
const random = createRandom(Number(seed))
const service = await startService({ DATABASE_URL: url, MANAGEMENT_AUTH: 'off' })
let operations = 0
let counter = Date.now() * 1_000

type Mine = { _id: string; name: string; version: number }

/** Makes a call between its two announcements; each register is an endpoint, its value the version that it will have. */
async function operate(
  registers: readonly (readonly [name: string, value: string])[],
  call: () => Promise<Reply>,
): Promise<Reply> {
  const operation = ++operations
  for (const [name, value] of registers) announce(`start ${operation} ${name} ${value}`)
  const reply = await call()
  if (reply.status >= 300) throw new Error(`a change was answered with ${reply.status}: ${reply.text}`)
  announce(`done ${operation}`)
  return reply
}

const newName = () => `e${++counter}`
const contentOf = (name: string) =>
  endpointDocument({ name, endpoint: { pattern: `/${name}` }, constants: { n: ++counter } })

async function create(mine: Mine[]): Promise<void> {
  const name = newName()
  const call = () => service.fetch('/endpoints', json('POST', contentOf(name)))
  const { _id } = (await operate([[name, '1']], call)).json<StoredEndpoint>()
  mine.push({ _id, name, version: 1 })
}

async function change(one: Mine): Promise<void> {
  const path = `/endpoints/${one._id}`
  const calls = [
    () => service.fetch(path, json('PUT', contentOf(one.name))),
    () => service.fetch(path, json('PATCH', { constants: { n: ++counter } })),
    () => service.fetch(`${path}/versions/${one.version}/restore`, json('POST', undefined)),
  ]
  const call = calls[random.below(calls.length)] as () => Promise<Reply>
  await operate([[one.name, `${one.version + 1}`]], call)
  one.version += 1
}

async function remove(mine: Mine[], index: number, { _id, name }: Mine): Promise<void> {
  await operate([[name, ABSENT]], () => service.fetch(`/endpoints/${_id}`, { method: 'DELETE' }))
  mine.splice(index, 1)
}

async function batch(mine: Mine[]): Promise<void> {
  const created = Array.from({ length: 1 + random.below(MAX_BATCH_SIZE) }, newName)
  const operations = [
    ...mine.map(({ _id, name }) => ({ op: 'replace', id: _id, document: contentOf(name) })),
    ...created.map((name) => ({ op: 'create', document: contentOf(name) })),
  ]
  const registers = [
    ...mine.map(({ name, version }) => [name, `${version + 1}`] as const),
    ...created.map((name) => [name, '1'] as const),
  ]
  const reply = await operate(registers, () => service.fetch('/endpoints/batch', json('POST', { operations })))
  const { results } = reply.json<{ results: { id: string; name: string; version: number }[] }>()
  mine.splice(0, mine.length, ...results.map(({ id, name, version }) => ({ _id: id, name, version })))
}

async function callForEver(mine: Mine[]): Promise<never> {
  for (;;) {
    const index = random.below(mine.length)
    const one = mine[index]
    if (one === undefined || random.chance(0.2)) await create(mine)
    else if (mine.length > MAX_ENDPOINTS_OF_A_STREAM || random.chance(0.15)) await remove(mine, index, one)
    else await (random.chance(0.2) ? batch(mine) : change(one))
  }
}

/** Keys and tests change beside the endpoints; what has no version is no register. */
async function changeOthersForEver(): Promise<never> {
  const mine: Mine[] = []
  await create(mine)
  const [{ _id }] = mine as [Mine]
  for (;;) {
    const body = json('POST', { name: 'a key', roles: ['viewer'] })
    const made = await operate([], async () => {
      const response = await fetch(`${service.adminUrl}/keys`, body)
      const text = await response.text()
      return { status: response.status, headers: response.headers, text, json: () => JSON.parse(text) }
    })
    const { id } = made.json<{ id: string }>()
    await fetch(`${service.adminUrl}/keys/${id}`, { method: 'DELETE' })
    const tests = { tests: [{ name: `t${++counter}`, expect: { answer: { status: 200 } } }] }
    const put = await service.fetch(`/endpoints/${_id}/tests`, json('PUT', tests))
    if (put.status !== 200) throw new Error(`tests were answered with ${put.status}: ${put.text}`)
  }
}

await Promise.all([...Array.from({ length: STREAMS }, () => callForEver([])), changeOthersForEver()])
