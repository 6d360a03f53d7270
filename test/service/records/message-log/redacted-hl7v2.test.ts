/** Parts of a message of HL7 v2 that are redacted: they are in nothing that is kept of it, in no form in which it held them. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import { json, type Service, startService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'

const PATHS = [
  'PID[0].5[0].1',
  'PID[].3[].4&2',
  'PID[0].9[].1',
  'PID[0].11[0].1',
  'PID[0].13[0].1',
  'ZPI.2',
  'OBX.5.1',
  'NTE[0].3[0].1',
  'secret',
]

// `\H\` is highlighting and says nothing, so the text is written otherwise than it was read; `\T\` is written as it was.
const OBSERVATIONS = Array.from({ length: 8 }, (_, at) => `OBX|${at + 1}|ST|Q||zqxobservation${at}^kept`)
const message = (end = ''): string =>
  [
    'MSH|^~\\&|HIS||||||ADT^A01|1|P|2.5.1',
    'PID|1||4711^^^NORTH&zqxauthority\\H\\1&ISO~4712^^^SOUTH&zqxauthority2\\H\\&L||\\H\\zqxfamily\\N\\&zqxprefix&\\H\\zqxown\\N\\&^Rosa||||zqxalias\\H\\1^x~zqxalias\\H\\2||zqxstreet\\T\\road^^Oslo||zqxphone\\X31\\23',
    'NTE|1||zqxnote one \\.sp\\ \\H\\zqxnote two',
    ...OBSERVATIONS,
    'ZPI|1|\\H\\zqxzed&zqxzed2^zqxzed3~zqxzed4',
    end,
  ].join('\r')

let folder: string
let service: Service
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'crosswalk-'))
  service = await startService(
    { MESSAGE_LOG: 'all', REDACT_PATHS: PATHS.join(','), MLLP_MAX_CONNECTIONS: '10' },
    folder,
  )
})
after(async () => {
  await service.stop()
  rmSync(folder, { recursive: true })
})

const admin = async (path: string, body?: JsonObject): Promise<string> =>
  (await fetch(`${service.adminUrl}${path}`, body && json('POST', body))).text()

function assertNone(where: string, text: string): void {
  assert.deepEqual([...text.matchAll(/zqx\w+/g)].map(String), [], `${where}: ${text}`)
}

const DOCUMENTS = {
  'as HL7 v2 again': { transformation: { input: 'HL7V2', output: 'HL7V2' } },
  'as JSON, with all that was read': { transformation: { input: 'HL7V2', output: 'JSON' } },
  'by a mapping of whole segments': {
    transformation: { input: 'HL7V2', output: 'JSON' },
    inputMapping: { 'requestBody.PID': 'PID', 'requestBody.ZPI': 'ZPI', 'requestBody.OBX': 'OBX' },
  },
  'by a transform': {
    transformation: { input: 'HL7V2', output: 'JSON' },
    inputTransforms: { all: 'requestBody' },
    inputMapping: { 'transforms.all': 'all' },
  },
  'in a message that fails': {
    transformation: { input: 'HL7V2', output: 'JSON' },
    inputValidation: { required: ['NK1'] },
  },
  'in a message that its output cannot hold': {
    transformation: { input: 'HL7V2', output: 'XML' },
  },
} as const

test('in an output whose mapping writes texts in place of fields', async () => {
  const inputMapping = {
    'requestBody.app': 'MSH[0].3',
    'requestBody.secret.name': 'PID[0].5',
    'requestBody.secret.zed': 'ZPI[0].2',
    'requestBody.secret.values[]': 'OBX[].5',
  }
  const transformation = { input: 'JSON', output: 'HL7V2' }
  await service.register({ name: 'texts', endpoint: { pattern: '/texts' }, transformation, inputMapping })
  const body = { app: 'HIS', secret: { name: 'zqxname', zed: 'zqxzed', values: ['zqxone', 'zqxtwo'] } }
  const reply = await service.fetch('/texts', json('POST', body))
  assert.match(reply.text, /PID\|\|\|\|\|zqxname\r/)
  const id = reply.headers.get('x-crosswalk-message-id')
  for (const which of ['incoming', 'mapped', 'answer']) {
    const text = await until(
      () => admin(`/messages/${id}/body/${which}`),
      (found) => found.includes('HIS'),
    )
    assertNone(which, text)
  }
})

for (const [how, document] of Object.entries(DOCUMENTS)) {
  test(how, async () => {
    const path = `/${randomUUID()}`
    const messageKeys = { family: 'requestBody.PID[0].5[0].1', zed: 'requestBody.ZPI[0].2[].1' }
    await service.register({ name: how, endpoint: { pattern: path }, ...document, messageKeys })
    const reply = await service.fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/hl7-v2' },
      body: message(),
    })
    const id = reply.headers.get('x-crosswalk-message-id')
    const record = await until(
      () => admin(`/messages/${id}`),
      (text) => text.includes('"bodies"'),
    )
    assertNone('the record', record)
    const { bodies } = JSON.parse(record) as { bodies: { which: string; size: number }[] }
    assert.equal(bodies.length >= 3, true, record)
    for (const { which } of bodies) assertNone(which, await admin(`/messages/${id}/body/${which}`))
    assert.match(await admin(`/messages/${id}/body/incoming`), /\rPID\|1\|\|4711\^\^\^NORTH&\*\*\*&ISO~/)
    assert.match(await admin('/messages?key=family:zqxfamily'), /"messages":\[\]/)
    assertNone('the list', await admin('/messages'))
    assertNone('the groups of failures', await admin('/messages/groups'))
    assertNone('a test of it', await admin(`/messages/${id}/test`, {}))
    assertNone('a dry run of it', await admin('/endpoints/dry-run', { messageId: id ?? '' }))
    assertNone('a replay', await admin(`/messages/${id}/replay`, {}))
    for (const name of readdirSync(folder).filter((one) => one.includes('messages'))) {
      assertNone(name, readFileSync(join(folder, name), 'latin1'))
    }
  })
}
