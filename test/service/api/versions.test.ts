/** The versions of an endpoint over HTTP: what they report, and the way back to one. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { describeServices } from '../../support/databases.ts'
import fc from '../../support/fast-check.ts'
import { LONG } from '../../support/form.ts'
import { json } from '../../support/service.ts'

const LOCAL = { address: '127.0.0.1' }
type Summary = Readonly<{ version: number; at: string; method: string; restored?: number; origin: JsonObject }>

describeServices('versions', {}, (stage) => {
  const send = (method: string, path: string, body?: Json, headers: Record<string, string> = {}) =>
    stage.service.fetch(path, json(method, body, headers))
  const versionsOf = async (id: string) => (await stage.service.fetch(`/endpoints/${id}/versions`)).json<Summary[]>()
  const restore = (id: string, version: number | string, headers: Record<string, string> = {}) =>
    send('POST', `/endpoints/${id}/versions/${version}/restore`, undefined, headers)
  let route = 0
  const registered = async (constants: JsonObject = { word: 'any' }) => {
    route += 1
    const pattern = `/versioned/${route}`
    return {
      pattern,
      document: await stage.service.register({ endpoint: { pattern }, constants, inputMapping: MAPPING }),
    }
  }
  const MAPPING = { 'constants.word': 'word' }
  const answerOf = async (pattern: string) => (await stage.service.fetch(pattern, json('POST', {}))).json().word

  test('every way of changing an endpoint leaves a version, with the caller', async () => {
    const { document } = await registered({ word: 'one' })
    const id = document._id
    const note = { 'x-crosswalk-change-note': 'build 1234' }
    await send('PUT', `/endpoints/${id}`, { ...document, constants: { word: 'two' } }, note)
    await send('PATCH', `/endpoints/${id}`, { constants: { word: 'three' } })
    const restored = (await restore(id, 1, note)).json()
    await send('DELETE', `/endpoints/${id}`, undefined, { 'x-crosswalk-change-note': 'n'.repeat(500) })
    const versions = await versionsOf(id)
    assert.deepEqual(
      versions.map(({ at, ...rest }) => rest),
      [
        { version: 5, method: 'delete', origin: { ...LOCAL, note: 'n'.repeat(200) } },
        { version: 4, method: 'restore', restored: 1, origin: { ...LOCAL, note: 'build 1234' } },
        { version: 3, method: 'patch', origin: LOCAL },
        { version: 2, method: 'replace', origin: { ...LOCAL, note: 'build 1234' } },
        { version: 1, method: 'create', origin: LOCAL },
      ],
    )
    const times = versions.map(({ at }) => at)
    assert.deepEqual(times, times.toSorted().reverse())
    assert.equal(new Set(times).size, 5)
    assert.deepEqual((await stage.service.fetch(`/endpoints/${id}/versions/4`)).json(), {
      ...versions[1],
      document: restored,
    })
    assert.deepEqual((await stage.service.fetch(`/endpoints/${id}/versions/1`)).json().document, document)
    assert.equal((await stage.service.fetch(`/endpoints/${id}/versions/5`)).json().document, null)
  })

  test('a note is read as UTF-8, else as Latin-1', async () => {
    const { document } = await registered({ word: 'one' })
    const path = `/endpoints/${document._id}`
    const sent = (text: string, encoding: BufferEncoding) => ({
      'x-crosswalk-change-note': Buffer.from(text, encoding).toString('latin1'),
    })
    await send('PATCH', path, {}, sent('für Łódź', 'utf8'))
    await send('PATCH', path, {}, sent('für', 'latin1'))
    const notes = (await versionsOf(document._id)).map(({ origin }) => origin.note)
    assert.deepEqual(notes.slice(0, 2), ['für', 'für Łódź'])
  })

  test('a change that is refused leaves none', async () => {
    const { document } = await registered()
    const path = `/endpoints/${document._id}`
    assert.equal((await send('PUT', path, { name: 'broken' })).status, 400)
    assert.equal((await send('PATCH', path, { description: 'x' }, { 'if-match': '"stale"' })).status, 412)
    assert.equal((await versionsOf(document._id)).length, 1)
  })

  describe('restoring', () => {
    test('puts the document of a version in force, and leaves what it was before a version too', async () => {
      const { pattern, document } = await registered({ word: 'before' })
      await send('PATCH', `/endpoints/${document._id}`, { constants: { word: 'after' } })
      assert.equal(await answerOf(pattern), 'after')
      const reply = await restore(document._id, 1)
      assert.equal(reply.status, 200)
      assert.equal(await answerOf(pattern), 'before')
      const { updatedAt, ...same } = reply.json()
      assert.deepEqual({ ...same, updatedAt: document.updatedAt }, document)
      assert.ok(String(updatedAt) > document.updatedAt)
      assert.equal(
        reply.headers.get('etag'),
        (await stage.service.fetch(`/endpoints/${document._id}`)).headers.get('etag'),
      )
      await restore(document._id, 2)
      assert.equal(await answerOf(pattern), 'after')
    })

    test('a deleted endpoint brings it back under its id, unless its name or route is taken', async () => {
      const { pattern, document } = await registered({ word: 'back' })
      await send('DELETE', `/endpoints/${document._id}`)
      const taker = await stage.service.register({ endpoint: { pattern } })
      assert.equal((await restore(document._id, 1)).json().code, 'CONFIGURATION_CLASH')
      await send('DELETE', `/endpoints/${taker._id}`)
      assert.equal((await restore(document._id, 1, { 'if-match': '*' })).status, 412)
      const reply = await restore(document._id, 1)
      assert.equal(reply.status, 200)
      assert.deepEqual(reply.json().createdAt, document.createdAt)
      assert.equal(await answerOf(pattern), 'back')
      assert.deepEqual(
        (await versionsOf(document._id)).map(({ version, method }) => [version, method]),
        [
          [3, 'restore'],
          [2, 'delete'],
          [1, 'create'],
        ],
      )
    })

    test('holds for the version that was read only, where If-Match asks for that', async () => {
      const { document } = await registered()
      const changed = await send('PATCH', `/endpoints/${document._id}`, { description: 'x' })
      const etag = changed.headers.get('etag') ?? ''
      assert.equal((await restore(document._id, 1, { 'if-match': '"other"' })).json().code, 'PRECONDITION_FAILED')
      assert.equal((await restore(document._id, 1, { 'if-match': etag })).status, 200)
    })

    test('is refused where the route of the version was taken meanwhile', async () => {
      const { pattern, document } = await registered()
      await send('PATCH', `/endpoints/${document._id}`, { endpoint: { pattern: `${pattern}/moved` } })
      await stage.service.register({ endpoint: { pattern } })
      assert.deepEqual((await restore(document._id, 1)).json().code, 'CONFIGURATION_CLASH')
      assert.equal((await versionsOf(document._id)).length, 2)
    })
  })

  describe('what there is not', () => {
    const none = '0'.repeat(24)
    const cases: readonly (readonly [method: string, path: string, code: string, type?: string])[] = [
      ['GET', `${none}/versions`, 'ENDPOINT_UNKNOWN'],
      ['GET', 'abc/versions', 'ID_MALFORMED'],
      ['GET', `${none}/versions/1`, 'ENDPOINT_UNKNOWN'],
      ['GET', 'abc/versions/1', 'ID_MALFORMED'],
      ...['0', '9', '-1', '1.0', '01', 'x', '99999999999999999999'].map(
        (version) => ['GET', `:id/versions/${version}`, 'VERSION_UNKNOWN'] as const,
      ),
      ['POST', ':id/versions/7/restore', 'VERSION_UNKNOWN'],
      ['POST', `${none}/versions/1/restore`, 'ENDPOINT_UNKNOWN'],
      ['POST', ':id/versions/1/restore', 'MEDIA_TYPE_WRONG', 'text/plain'],
    ]
    test('is no version, and nothing to restore', async () => {
      const { document } = await registered()
      for (const [method, path, code, type = 'application/json'] of cases) {
        const url = `/endpoints/${path.replace(':id', document._id)}`
        const reply = await stage.service.fetch(url, { method, headers: { 'content-type': type } })
        assert.equal(reply.json().code, code, `${method} ${path}: ${reply.text}`)
      }
    })

    test('a deletion to restore', async () => {
      const { document } = await registered()
      await send('DELETE', `/endpoints/${document._id}`)
      assert.match(String((await restore(document._id, 2)).json().error), /^Version 2 is a deletion/)
    })
  })

  test('any text in place of a version is answered with what is wrong, and any note is kept as it came', async () => {
    const { document } = await registered()
    const path = `/endpoints/${document._id}`
    const headerText = fc.string({
      unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
    })
    const segment = fc.oneof(
      fc.string({ unit: 'grapheme', minLength: 1 }),
      fc.integer().map(String),
      fc.double().map(String),
    )
    const inputs = fc.tuple(
      segment.filter((text) => !/^\.{1,2}$/.test(text) && text !== '1'),
      headerText.map((text) => text.repeat(30)),
    )
    await fc.assert(
      fc.asyncProperty(inputs, async ([version, note]) => {
        const at = `${path}/versions/${encodeURIComponent(version.toWellFormed())}`
        for (const reply of [await stage.service.fetch(at), await send('POST', `${at}/restore`)])
          assert.ok([200, 400, 404].includes(reply.status), reply.text)
        await send('PATCH', path, {}, { 'x-crosswalk-change-note': note })
        const [newest] = await versionsOf(document._id)
        assert.equal(newest?.origin.note ?? '', note.slice(0, 200))
      }),
      { numRuns: LONG ? 200 : 20 },
    )
  })
})
