/** Messages of many kinds, and changes of endpoints beneath them, at a steady pace; each answer is known beforehand. */
import { Agent, request } from 'node:http'
import { registerAt } from './bundled-service.ts'

type Kind = Readonly<{ name: string; document: object; type: string; body: (serial: number) => string; status: number }>

const JSON_TYPE = 'application/json'
const both = (input: string, output: string) => ({ transformation: { input, output } })

/** `upstream` answers any GET with JSON; nothing listens at `nowhere`. */
function kindsOf(upstream: string, nowhere: string): readonly Kind[] {
  const patient = (serial: number) =>
    JSON.stringify({ id: `p${serial}`, name: 'Ada', lines: [{ n: 1 }, { n: serial }] })
  const lookup = (url: string) => ({
    requests: { lookup: [{ id: 'up', config: { url, params: { query: { id: { path: 'payload.id' } } } } }] },
  })
  return [
    {
      name: 'json',
      document: {
        ...both('JSON', 'JSON'),
        inputTransforms: { total: '$sum(requestBody.lines.n)' },
        inputMapping: { 'requestBody.name': 'who', 'transforms.total': 'total' },
      },
      type: JSON_TYPE,
      body: patient,
      status: 200,
    },
    {
      name: 'xml',
      document: { ...both('XML', 'XML'), inputMapping: { 'requestBody.id': 'r.id', 'requestBody.v[]': 'r.v[]' } },
      type: 'application/xml',
      body: (serial) => `<m><id>${serial}</id><v>1</v><v>2</v></m>`,
      status: 200,
    },
    {
      name: 'lookup',
      document: {
        ...both('JSON', 'JSON'),
        ...lookup(upstream),
        inputMapping: { 'lookupRequests.up.data.found': 'found' },
      },
      type: JSON_TYPE,
      body: patient,
      status: 200,
    },
    {
      name: 'state',
      document: {
        ...both('JSON', 'JSON'),
        state: { extract: { requestBody: { last: 'id' } } },
        inputMapping: { 'state.requestBody.last': 'before', 'requestBody.id': 'now' },
      },
      type: JSON_TYPE,
      body: patient,
      status: 200,
    },
    {
      name: 'invalid',
      document: { ...both('JSON', 'JSON'), inputValidation: { required: ['missing'] } },
      type: JSON_TYPE,
      body: patient,
      status: 400,
    },
    {
      name: 'unreachable',
      document: { ...both('JSON', 'JSON'), ...lookup(nowhere) },
      type: JSON_TYPE,
      body: patient,
      status: 502,
    },
    { name: 'unreadable', document: both('JSON', 'JSON'), type: JSON_TYPE, body: () => '{"a":', status: 400 },
  ]
}

export type TrafficCounts = { sent: number; changes: number; wrong: string[] }

export interface Traffic {
  readonly counts: TrafficCounts
  /** Resolves when all that was sent is answered. */
  stop(): Promise<void>
}

export type TrafficOptions = Readonly<{
  url: string
  upstream: string
  nowhere: string
  messagesPerSecond: number
  changesPerSecond: number
}>

export async function startTraffic(options: TrafficOptions): Promise<Traffic> {
  const { url, upstream, nowhere, messagesPerSecond, changesPerSecond } = options
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  const counts: TrafficCounts = { sent: 0, changes: 0, wrong: [] }
  const underWay = new Set<Promise<void>>()
  const send = (method: string, path: string, type: string, body: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const headers = { 'content-type': type, 'content-length': Buffer.byteLength(body) }
      const outgoing = request(`${url}${path}`, { method, agent, headers }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0))
      })
      outgoing.on('error', reject).end(body)
    })
  const expect = (what: string, status: number, answered: Promise<number>): Promise<void> => {
    const one = answered
      .then((got) => void (got === status || counts.wrong.push(`${what}: ${got}`)))
      .catch((thrown: Error) => void counts.wrong.push(`${what}: ${thrown.message}`))
      .finally(() => underWay.delete(one))
    underWay.add(one)
    return one
  }

  const kinds = kindsOf(upstream, nowhere)
  const documentOf = ({ name, document }: Kind) => ({ name, endpoint: { pattern: `/${name}` }, ...document })
  const ids = new Map<string, string>()
  for (const kind of kinds) ids.set(kind.name, await registerAt(url, documentOf(kind)))

  let passing: string | undefined
  let isChanging = false
  /** In turn: creates one more endpoint, replaces one that has messages, deletes the one that was created. */
  const change = async (): Promise<void> => {
    counts.changes += 1
    const step = counts.changes % 3
    if (step === 1) {
      passing = await registerAt(url, { name: 'passing', endpoint: { pattern: '/passing' }, ...both('JSON', 'XML') })
    } else if (step === 2) {
      const kind = kinds[counts.changes % kinds.length] as Kind
      const body = JSON.stringify({ ...documentOf(kind), description: `Change ${counts.changes}.` })
      await expect('PUT', 200, send('PUT', `/endpoints/${ids.get(kind.name)}`, JSON_TYPE, body))
    } else await expect('DELETE', 200, send('DELETE', `/endpoints/${passing}`, JSON_TYPE, ''))
  }
  /** One at a time, as each is for what the one before has left. */
  const changeNext = (): void => {
    if (isChanging) return
    isChanging = true
    const changed = change().finally(() => {
      isChanging = false
    })
    expect(
      'change',
      0,
      changed.then(() => 0),
    )
  }
  const message = (): void => {
    const kind = kinds[counts.sent % kinds.length] as Kind
    counts.sent += 1
    expect(kind.name, kind.status, send('POST', `/${kind.name}`, kind.type, kind.body(counts.sent)))
  }
  const timers = [setInterval(message, 1_000 / messagesPerSecond), setInterval(changeNext, 1_000 / changesPerSecond)]
  return {
    counts,
    stop: async () => {
      timers.forEach(clearInterval)
      while (underWay.size > 0) await Promise.all(underWay)
      agent.destroy()
    },
  }
}
