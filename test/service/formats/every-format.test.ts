/** What holds for every format that the table has: its sample goes the way of a message, and all that shows messages knows it. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { codecForFormat, DESCRIBED_FORMATS, outputFormat } from '../../../src/formats/codecs.ts'
import { runCommand } from '../../support/cli/run-command.ts'
import { json, type Service, type StoredEndpoint, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const SETTINGS = { parserXmlTrim: true, parserXmlExplicitRoot: false, parserXmlExplicitArray: false }

let service: Service
let folder: string
before(async () => {
  service = await startService({ MESSAGE_LOG: 'all' })
  folder = mkdtempSync(join(tmpdir(), 'crosswalk-'))
})
after(async () => {
  await service.stop()
  rmSync(folder, { recursive: true })
})

const admin = (path: string, init?: RequestInit) => fetch(`${service.adminUrl}${path}`, init)
const ask = async <T = JsonObject>(path: string, init?: RequestInit): Promise<T> =>
  (await admin(path, init)).json() as T
const bytesOf = async (path: string): Promise<string> => Buffer.from(await (await admin(path)).arrayBuffer()).toString()

for (const { name, mediaType, sample } of DESCRIBED_FORMATS) {
  describe(name, () => {
    const codec = codecForFormat(name)
    const { mediaType: writtenType } = outputFormat(name)
    const readText = (text: string): Json => codec.read(Buffer.from(text), undefined, SETTINGS)
    const headers = { 'content-type': mediaType }
    let stored: StoredEndpoint
    let messageId = ''
    let answer = ''

    it('has a draft from its sample, with a test', async () => {
      const slug = `every-${name.toLowerCase().replace(/\W/g, '-')}`
      const request = { name: slug, pattern: `/${slug}`, format: name, sample }
      const { document, test, faults } = await ask('/endpoints/draft', json('POST', request))
      assert.deepEqual(faults, [])
      stored = await service.register(document as JsonObject)
      const run = { endpointId: stored._id, tests: { tests: [test as Json] } }
      const { passed, failed } = await ask('/endpoints/tests/run', json('POST', run))
      assert.deepEqual([passed, failed], [1, 0])
    })

    it('is read and written by an endpoint', async () => {
      const { pattern } = stored.endpoint as { pattern: string }
      const reply = await service.fetch(pattern, { method: 'POST', headers, body: sample })
      assert.deepEqual([reply.status, reply.headers.get('content-type')], [200, writtenType], reply.text)
      assert.deepEqual(readText(reply.text), readText(sample))
      answer = reply.text
      messageId = reply.headers.get('x-crosswalk-message-id') ?? ''
    })

    it('is recorded and replayed byte for byte', async () => {
      await until(
        () => admin(`/messages/${messageId}`),
        ({ status }) => status === 200,
      )
      assert.equal(await bytesOf(`/messages/${messageId}/body/incoming`), sample)
      assert.equal(await bytesOf(`/messages/${messageId}/body/answer`), answer)
      const replayed = await ask<{ id: string; outcome: string }>(
        `/messages/${messageId}/replay`,
        json('POST', undefined),
      )
      assert.equal(replayed.outcome, 'done', JSON.stringify(replayed))
      await until(
        () => admin(`/messages/${replayed.id}`),
        ({ status }) => status === 200,
      )
      assert.equal(await bytesOf(`/messages/${replayed.id}/body/incoming`), sample)
      assert.equal(await bytesOf(`/messages/${replayed.id}/body/answer`), answer)
    })

    it('is replayed with another body of its type', async () => {
      const own = { ...headers, 'x-requested-with': 'test' }
      const init = { method: 'POST', headers: own, body: sample }
      assert.equal((await ask<{ outcome: string }>(`/messages/${messageId}/replay`, init)).outcome, 'done')
    })

    it('is run dry, as typed and from the record', async () => {
      for (const of of [
        { message: { body: sample, contentType: mediaType } },
        { message: { body: sample } },
        { messageId },
      ]) {
        const report = await ask('/endpoints/dry-run', json('POST', { endpointId: stored._id, ...of }))
        const { body } = report.answer as JsonObject
        assert.deepEqual([report.outcome, body], ['done', answer], JSON.stringify(of))
      }
    })

    it('has suggestions', async () => {
      const body = { body: sample, contentType: mediaType }
      const request = { source: body, target: { sample, contentType: mediaType } }
      const { suggestions } = await ask<{ suggestions: Json[] }>('/endpoints/suggest', json('POST', request))
      assert.ok(suggestions.length > 0)
      const recorded = { messageId, target: { sample, contentType: mediaType } }
      assert.deepEqual((await ask('/endpoints/suggest', json('POST', recorded))).suggestions, suggestions)
    })

    it('is described for callers', async () => {
      const { paths } = await ask<{ paths: Record<string, Record<string, JsonObject>> }>(
        `/endpoints/${stored._id}/openapi.json`,
      )
      const [operation = {}] = Object.values(paths).map(({ post }) => post ?? {})
      const { content: taken } = operation.requestBody as { content: JsonObject }
      const { content: given } = (operation.responses as Record<string, { content: JsonObject }>)[200] ?? {
        content: {},
      }
      assert.ok(Object.hasOwn(taken, mediaType) && Object.hasOwn(given, mediaType))
    })

    it('has a failure as its body where it is the output', async () => {
      const { pattern } = stored.endpoint as { pattern: string }
      const type = { 'content-type': 'application/octet-stream' }
      const reply = await service.fetch(pattern, { method: 'POST', headers: type, body: 'x' })
      assert.equal(reply.status, 415)
      if (!/fhir/i.test(name)) assert.equal(reply.headers.get('content-type'), writtenType)
      assert.match(`${reply.text}${reply.headers.get('x-crosswalk-code')}`, /MEDIA_TYPE_WRONG/)
    })

    it('is written and run by the command line, from a file of its ending', async () => {
      for (const ending of name === codec.name ? codec.fileEndings : []) {
        const cwd = join(folder, `${name}${ending}`)
        mkdirSync(cwd)
        writeFileSync(join(cwd, `sample${ending}`), sample)
        const made = await runCommand('new', ['One'], { sample: `sample${ending}` }, { cwd })
        assert.equal(made.code, 0, made.stderr)
        const ran = await runCommand('run', ['one.json'], { input: `sample${ending}` }, { cwd })
        // It ends the last line.
        const printed = sample.endsWith('\n') ? ran.stdout : ran.stdout.replace(/\n$/, '')
        assert.deepEqual([ran.code, readText(printed)], [0, readText(sample)], ran.stderr)
        const tested = await runCommand('test', [], {}, { cwd })
        assert.equal(tested.code, 0, tested.stdout + tested.stderr)
      }
    })
  })
}
