/** HL7 v2 on its way through a service: bytes stay as they are, paths are checked, other systems are asked in it. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import { HL7V2_CODEC } from '../../../src/formats/hl7v2-codec.ts'
import { endpointDocument, json, type Service, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const TYPE = 'application/hl7-v2'
const MESSAGE = Buffer.from(
  'MSH|^~\\&|HIS||||||ADT^A01|1|P|2.5.1||||||8859/1\rPID|1||4711^^^A&B^MR||M\xfcller^\\X5A\\o\xeb||""|\rZZ1||\r',
  'latin1',
)

const upstream = createServer((request, response) => {
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part))
  request.on('end', () => {
    response.setHeader('content-type', request.headers['content-type'] ?? 'text/plain')
    response.end(Buffer.concat(parts))
  })
})
let url: string
let service: Service
before(async () => {
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
  service = await startService({ MESSAGE_LOG: 'all' })
})
after(async () => {
  await service.stop()
  upstream.close()
})

const send = async (path: string, body: Uint8Array | string, type = TYPE) => {
  const init = { method: 'POST', headers: { 'content-type': type }, body: Buffer.from(body) }
  const reply = await fetch(`${service.url}${path}`, init)
  return { status: reply.status, headers: reply.headers, bytes: Buffer.from(await reply.arrayBuffer()) }
}

test('a message comes out byte for byte: as the answer, at a target and from it, and in the record', async () => {
  const both = { input: 'HL7V2', output: 'HL7V2' }
  const response = { id: 'r', config: { url, method: 'POST' } }
  await service.register({ endpoint: { pattern: '/same' }, transformation: both })
  await service.register({ endpoint: { pattern: '/sent' }, transformation: both, requests: { response: [response] } })
  for (const path of ['/same', '/sent']) {
    const reply = await send(path, MESSAGE, 'x-application/hl7-v2+er7')
    assert.deepEqual([reply.status, reply.headers.get('content-type')], [200, TYPE])
    assert.deepEqual(reply.bytes, MESSAGE)
    const id = reply.headers.get('x-crosswalk-message-id')
    const bodyOf = (which: string) => fetch(`${service.adminUrl}/messages/${id}/body/${which}`)
    await until(
      () => bodyOf('answer'),
      ({ status }) => status === 200,
    )
    assert.deepEqual(Buffer.from(await (await bodyOf('answer')).arrayBuffer()), MESSAGE)
  }
})

test('bytes of another charset are shown as text where a message is tried', async () => {
  const document = endpointDocument({
    endpoint: { pattern: '/tried' },
    transformation: { input: 'JSON', output: 'HL7V2' },
  })
  const value = { MSH: [{ 3: 'HIS', 18: '8859/1' }], PID: [{ 5: 'Müller' }] }
  const request = json('POST', { endpoint: document, message: { body: value } })
  const reply = await fetch(`${service.adminUrl}/endpoints/dry-run`, request)
  const text = await reply.text()
  const { outcome, stages } = JSON.parse(text) as {
    outcome: string
    stages: { stage: string; output: JsonObject }[]
  }
  assert.equal(outcome, 'done', text)
  const { output } = stages.find(({ stage }) => stage === 'serialise')?.output ?? {}
  assert.match(String(output), /^MSH\|[^\r]*\rPID\|\|\|\|\|M\uFFFDller\r$/)
})

test('an answer of a lookup is read, and the message that is forwarded to it is the one that came', async () => {
  const config = { url, method: 'POST' }
  const lookup = [{ id: 'l', config, forwardExistingRequestBody: true }]
  const inputMapping = { 'lookupRequests.l.data.PID[0].5[0].1': 'name', 'requestBody.PID[0].3[0].4&2': 'part' }
  const transformation = { input: 'HL7V2', output: 'JSON' }
  await service.register({ endpoint: { pattern: '/asked' }, transformation, requests: { lookup }, inputMapping })
  const { status, bytes } = await send('/asked', MESSAGE)
  assert.deepEqual([status, JSON.parse(bytes.toString())], [200, { name: 'Müller', part: 'B' }])
})

test('a mapping writes a message', async () => {
  const inputMapping = {
    'constants.app': ['MSH[0].3[0].1'],
    'requestBody.names[].family': 'PID[0].5[].1',
    'requestBody.names[].given': 'PID[0].5[].2',
    'requestBody.values[]': 'OBX[].5[0].1',
  }
  const transformation = { input: 'JSON', output: 'HL7V2' }
  await service.register({ endpoint: { pattern: '/made' }, transformation, inputMapping, constants: { app: 'HUB' } })
  const names = [{ family: 'Doe|Roe', given: 'Jane' }, { family: 'Doe' }]
  const { bytes } = await send('/made', JSON.stringify({ names, values: ['1', 2] }), 'application/json')
  const [head, ...rest] = bytes.toString().split('\r')
  assert.equal(head, 'MSH|^~\\&|HUB')
  assert.deepEqual(rest, ['PID|||||Doe\\F\\Roe^Jane~Doe', 'OBX|||||1', 'OBX|||||2', ''])
})

test('every path and target that reads another thing than it says is refused, with the one that is meant', async () => {
  const item = { path: 'item.3.1' }
  const lookup = [
    { id: 'a', config: { url, method: 'GET', params: { query: { id: { path: 'payload.PID.3[0].1' } } } } },
    {
      id: 'b',
      forEach: { items: 'requestBody.OBX' },
      config: { url, method: 'GET', params: { query: { code: item, same: { path: 'item.3[0].1' } } } },
    },
    { id: 'c', forEach: { items: 'requestBody.PID.3' }, config: { url, method: 'GET' } },
  ]
  const document = endpointDocument({
    endpoint: { pattern: '/refused' },
    transformation: { input: 'HL7V2', output: 'HL7V2' },
    requests: { lookup },
    inputMapping: {
      'requestBody.PID.5.1': 'PID.5.1',
      'requestBody.PID[0].5[0].2': ['PID[0].5[0].2?', 'PID[0].3[].4.2?'],
      'requestBody.segments[0]': 'NTE[0].3[0].1',
    },
    state: { extract: { requestBody: { name: 'PID.5' } } },
    messageKeys: { mrn: 'requestBody.PID[0].3.1' },
  })
  const reply = await service.fetch('/endpoints', json('POST', document))
  const { details } = reply.json<{ details: { path: string; message: string }[] }>()
  const meant = details.map(({ path, message }) => [path, /; write "(.*)"\.$/.exec(message)?.[1]])
  assert.deepEqual(
    Object.fromEntries(meant),
    {
      'requests.lookup[0].config.params.query.id.path': 'payload.PID[0].3[0].1',
      'requests.lookup[1].config.params.query.code.path': 'item.3[0].1',
      'requests.lookup[2].forEach.items': 'requestBody.PID[0].3',
      'inputMapping.requestBody\\.PID\\.5\\.1': 'PID[0].5[0].1',
      'inputMapping.requestBody\\.PID[0]\\.5[0]\\.2': 'PID[0].3[].4&2?',
      'state.extract.requestBody.name': 'PID[0].5',
      'messageKeys.mrn': 'requestBody.PID[0].3[0].1',
    },
    reply.text,
  )
  assert.ok(details.some(({ message }) => message.includes('"requestBody.PID[0].5[0].1"')))
})

test('a path with a name that no message has is warned of', async () => {
  const inputMapping = {
    'requestBody.PID[0].5[0].family': 'a',
    'requestBody.pid[0].5[0].1': 'b',
    'requestBody.PID-5[0].1': 'c',
    'requestBody.PID[0].5[0].1': 'd',
    'requestBody.segments[0]': 'e',
    'requestBody.PID[0].5[0].4&2': 'f',
  }
  const transformation = { input: 'HL7V2', output: 'JSON' }
  const document = endpointDocument({ endpoint: { pattern: '/names' }, transformation, inputMapping })
  const reply = await service.fetch(
    '/endpoints/dry-run',
    json('POST', { endpoint: document, message: { body: 'MSH|^~\\&|' } }),
  )
  const { warnings } = reply.json<{ lint: { warnings: { message: string }[] } }>().lint
  assert.deepEqual(
    warnings.map(({ message }) => /^"requestBody\.(.*)" finds nothing: "([^"]*)" is neither/.exec(message)?.slice(1)),
    [
      ['PID[0].5[0].family', 'family'],
      ['pid[0].5[0].1', 'pid'],
      ['PID-5[0].1', 'PID-5'],
    ],
    reply.text,
  )
})

test('a failure is an acknowledgement, with the code and the sentence', async () => {
  await service.register({ endpoint: { pattern: '/acks' }, transformation: { input: 'HL7V2', output: 'HL7V2' } })
  const { status, bytes } = await send('/acks', 'MSH|^~\\&|\rpid\r')
  const value = HL7V2_CODEC.read(bytes, undefined) as Record<string, { [field: string]: { 1: string }[] }[]>
  const first = (segment: string, field: number) => value[segment]?.[0]?.[field]?.[0]?.[1]
  assert.equal(status, 400)
  assert.deepEqual([first('MSH', 9), first('MSA', 1), first('ERR', 5)], ['ACK', 'AR', 'BODY_UNREADABLE'])
  assert.match(first('ERR', 8) ?? '', /^Segment 2 does not begin/)
})
