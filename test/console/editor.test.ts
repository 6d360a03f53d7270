/** The editor of the console: drafts, faults, dry runs with edited answers, publishing and merging. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { JsonObject } from '../../src/domain/json.ts'
import { startServiceWithKeys } from '../access/service-with-keys.ts'
import { endpointDocument, json, type Service, startService, startUpstream, type Upstream } from '../service.ts'
import { until } from '../until.ts'
import { NO_BROWSER, signIn } from './browser.ts'
import { openConsole } from './console-page.ts'
import { allPassed, caretToLine, documentEditor, hasFocus, replaceInLine, stageOf } from './editor-page.ts'

describe('the editor', { skip: NO_BROWSER }, () => {
  let service: Service
  let upstream: Upstream
  before(async () => {
    service = await startService({ MESSAGE_LOG: 'all' })
    upstream = await startUpstream(() => ({ name: 'Grace' }))
  })
  after(async () => {
    await service.stop()
    await upstream.stop()
  })

  const stored = async (id: string) => (await service.fetch(`/endpoints/${id}`)).json()

  test('keeps both changes when two people publish one endpoint', async (t) => {
    const { _id: id } = await service.register({
      name: 'Conflict',
      endpoint: { pattern: '/conflict' },
      inputMapping: { 'requestBody.a': 'a', 'requestBody.b': 'b' },
    })
    const first = await openConsole(t, { of: service })
    const second = await openConsole(t, { of: service })
    await first.open(`endpoints/${id}/edit`)
    await second.open(`endpoints/${id}/edit`)
    await replaceInLine(first.page, '"a"', '"first"')
    await replaceInLine(second.page, '"b"', '"second"')
    const publish = async ({ page }: typeof first, note: string) => {
      await page.keyboard.press('Control+s')
      const dialog = page.getByRole('dialog', { name: 'Publish' })
      await dialog.getByText('inputMapping').first().waitFor()
      await dialog.getByLabel('Note').fill(note)
      await dialog.getByRole('button', { name: 'Publish', exact: true }).click()
    }
    await publish(first, 'one')
    await first.page.getByText('Published as version 2').waitFor()
    await publish(second, 'two')
    const merge = second.page.getByRole('dialog', { name: 'The endpoint has changed meanwhile' })
    await merge.waitFor()
    await merge.getByText('inputMapping.requestBody\\.a').first().waitFor()
    await merge.locator('.diff-view').waitFor()
    await second.checkAccessibility()
    await merge.getByRole('button', { name: 'Take the merged document' }).click()
    await second.page.getByRole('dialog', { name: 'Publish' }).getByText('inputMapping.requestBody\\.b').waitFor()
    await second.page.getByLabel('Note').fill('both')
    await second.page.getByRole('button', { name: 'Publish', exact: true }).click()
    await second.page.getByText('Published as version 3').waitFor()
    assert.deepEqual((await stored(id)).inputMapping, { 'requestBody.a': 'first', 'requestBody.b': 'second' })
  })

  test('asks where both changed one place', async (t) => {
    const document: JsonObject = { name: 'Both', endpoint: { pattern: '/both' }, description: 'before' }
    const { _id: id } = await service.register(document)
    const { page, open } = await openConsole(t, { of: service })
    await open(`endpoints/${id}/edit`)
    await replaceInLine(page, 'before', 'mine')
    await service.fetch(`/endpoints/${id}`, json('PATCH', { description: 'theirs' }))
    await page.getByText('Somebody has published another version').waitFor()
    await page.getByRole('button', { name: 'Merge …' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('radio', { name: /Theirs/ }).click()
    await dialog.getByRole('button', { name: 'Take the merged document' }).click()
    await dialog.getByText('the stored document is the same').waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('as stored').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    assert.match((await documentEditor(page).textContent()) ?? '', /"mine"/)
  })

  test('shows faults at their lines, and F8 goes from one to the next', async (t) => {
    const { _id: id } = await service.register({ name: 'Faults', endpoint: { pattern: '/faults' } })
    const { page, open, checkAccessibility } = await openConsole(t, { of: service })
    await open(`endpoints/${id}/edit`)
    await replaceInLine(page, '"output": "JSON"', '"output": "HTML", "colour": 1')
    const faults = page.getByRole('region', { name: 'Faults' })
    await faults.getByText('2 faults').waitFor()
    await faults.getByText('transformation.output', { exact: true }).waitFor()
    await checkAccessibility()
    await page.getByRole('heading', { level: 1 }).click()
    await page.keyboard.press('F8')
    assert.equal(await hasFocus(documentEditor(page)), true)
    await page.getByRole('button', { name: 'Publish …' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Publish', exact: true }).hover()
    await page.getByRole('tooltip', { name: /faults: mend them first/ }).waitFor()
    await page.keyboard.press('Escape')
    await caretToLine(page, '"transformation"')
    await page.keyboard.press('Shift+End')
    await page.keyboard.insertText('  "transformation": {')
    await faults.getByText('must stand').first().waitFor()
  })

  test('completes fields, values, and paths of the loaded message', async (t) => {
    const { _id: id } = await service.register({ name: 'Words', endpoint: { pattern: '/words' } })
    const sent = await service.fetch('/words', json('POST', { patient: { name: 'Ada' } }))
    const message = sent.headers.get('x-crosswalk-message-id')
    const { page, open } = await openConsole(t, { of: service })
    await open(`endpoints/${id}/edit?message=${message}`)
    await stageOf(page, 'parse').waitFor()
    await replaceInLine(page, '"inputMapping": {}', '"inputMapping": { }')
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.type('"pati')
    const options = page.getByRole('listbox').getByRole('option')
    await options.filter({ hasText: 'requestBody.patient.name' }).waitFor()
    await options.filter({ hasText: 'requestBody.patient.name' }).click()
    assert.match((await documentEditor(page).textContent()) ?? '', /"requestBody\.patient\.name": ""/)
    await replaceInLine(page, '"name": "Words",', '"name": "Words", ')
    await page.keyboard.type('"descr')
    await options.filter({ hasText: 'description' }).waitFor()
  })

  test('runs on a message that is typed, with answers that are typed', async (t) => {
    const { _id: id } = await service.register({
      name: 'Answers',
      endpoint: { pattern: '/answers' },
      requests: { lookup: [{ id: 'patient', config: { url: `${upstream.url}/patients` } }] },
      inputTransforms: { double: 'requestBody.nr * 2' },
      inputMapping: { 'lookupRequests.patient.data.name': 'name', 'transforms.double': 'double' },
    })
    const { page, open, checkAccessibility } = await openConsole(t, { of: service, width: 1440 })
    await open(`endpoints/${id}/edit`)
    await page.getByLabel('Body', { exact: true }).fill('{ "nr": 21 }')
    await stageOf(page, 'lookup').getByText('The dry run has no answer').waitFor()
    const call = page.getByRole('region', { name: 'Calls' })
    await call.getByText('missing').waitFor()
    await call.getByRole('button', { name: 'Write an answer' }).click()
    await call.getByLabel('Body').fill('{ "name": "Ada" }')
    await checkAccessibility()
    await call.getByRole('button', { name: 'Run with this answer' }).click()
    await allPassed(page)
    await call.getByText('edited').waitFor()
    await stageOf(page, 'map').getByText('"name": "Ada"').waitFor()
    assert.equal(upstream.received.length, 0)

    await page.getByRole('button', { name: 'Expressions' }).click()
    await page.getByRole('region', { name: 'Result of double' }).getByText('42').waitFor()
    const expression = page.getByRole('textbox', { name: 'Expression double' })
    await expression.click()
    await page.keyboard.press('Control+a')
    await page.keyboard.insertText('requestBody.nr\n + 1')
    await page.getByRole('region', { name: 'Result of double' }).getByText('22').waitFor()
    await checkAccessibility()
    await page.getByRole('button', { name: 'Document', exact: true }).click()
    assert.match((await documentEditor(page).textContent()) ?? '', /requestBody\.nr\\n \+ 1/)

    await call.getByText('lookup patient').click()
    await call.getByRole('button', { name: 'Back to the answer before' }).click()
    await page.getByRole('checkbox', { name: /for real, of 127\.0\.0\.1/ }).click()
    await stageOf(page, 'map').getByText('"name": "Grace"').waitFor()
    await call.getByText('live').waitFor()
  })

  test('keeps unsaved text over a reload for its author, until signing out', async (t) => {
    const { service: own, keys } = await startServiceWithKeys()
    t.after(() => own.stop())
    const { page } = await openConsole(t, { of: own })
    await page.goto('/console/endpoints/new')
    await signIn(page, keys.author)
    await replaceInLine(page, '"name": ""', '"name": "Not saved yet"')
    const typed = page.getByRole('heading', { name: 'Not saved yet' })
    await typed.waitFor()
    await until(
      () => page.evaluate('sessionStorage.getItem("crosswalk-draft:new")'),
      (kept) => kept !== null,
    )
    await page.reload()
    await signIn(page, keys.admin)
    await page.getByRole('heading', { name: 'New endpoint' }).waitFor()
    await page.reload()
    await signIn(page, keys.author)
    await typed.waitFor()
    await page.getByRole('button', { name: /Account/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByLabel('API key or access token').waitFor()
    assert.deepEqual(await page.evaluate('Object.keys(sessionStorage)'), [])
  })

  test('keeps the text while the service is away, and publishes it when it is back', async (t) => {
    const home = mkdtempSync(join(tmpdir(), 'crosswalk-'))
    t.after(() => rmSync(home, { recursive: true }))
    const own = await startService({}, home)
    const { _id: id } = await own.register({ name: 'Loss', endpoint: { pattern: '/loss' } })
    const { page, open } = await openConsole(t, { of: own, expected: /ERR_|net::|Failed to load resource/ })
    await open(`endpoints/${id}/edit`)
    const ports = { SERVER_PORT: String(own.app.messagePort), ADMIN_PORT: String(own.app.adminPort) }
    await own.stop()
    await replaceInLine(page, '"Loss"', '"Typed meanwhile"')
    await page.getByText('The service has not answered since').waitFor()
    await page.keyboard.press('Control+s')
    const dialog = page.getByRole('dialog', { name: 'Publish' })
    await dialog.getByText('The service does not answer').first().waitFor()
    const again = await startService(ports, home)
    t.after(() => again.stop())
    await dialog.getByRole('button', { name: 'Publish', exact: true }).click()
    await page.getByText('Published as version 2').waitFor()
    assert.equal((await again.fetch(`/endpoints/${id}`)).json().name, 'Typed meanwhile')
  })

  test('shows a viewer the document, and why nothing else can be done', async (t) => {
    const { service: own, keys } = await startServiceWithKeys()
    t.after(() => own.stop())
    const key = { authorization: `Bearer ${keys.author}` }
    const made = await own.fetch('/endpoints', json('POST', endpointDocument({ endpoint: { pattern: '/roles' } }), key))
    const { page } = await openConsole(t, { of: own })
    await page.goto(`/console${made.headers.get('location')}/edit`)
    await signIn(page, keys.viewer)
    await documentEditor(page).waitFor()
    assert.equal(await documentEditor(page).getAttribute('aria-readonly'), 'true')
    await page.getByRole('button', { name: 'Publish …' }).hover()
    await page.getByRole('tooltip', { name: /needs the role author/ }).waitFor()
  })

  test('makes a new endpoint', async (t) => {
    const { page, open, checkAccessibility } = await openConsole(t, { of: service })
    await open('endpoints/new')
    await replaceInLine(page, '"name": ""', '"name": "Brand new"')
    await replaceInLine(page, '"pattern": "/"', '"pattern": "/brand-new"')
    await page.getByRole('region', { name: 'Faults' }).getByText('No faults').waitFor()
    await checkAccessibility()
    await page.keyboard.press('Control+s')
    await page.getByRole('dialog').getByRole('button', { name: 'Publish', exact: true }).click()
    await page.waitForURL(/endpoints\/[0-9a-f]{24}\/edit/)
    await page.getByText('as stored').waitFor()
    assert.equal((await service.fetch('/brand-new', json('POST', { a: 1 }))).text, '{"a":1}')
  })
})
