/** The editor of the console: faults, words, dry runs with edited answers, and new endpoints. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { json, type Service, startService, startUpstream, type Upstream } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'
import { NO_BROWSER } from '../browser.ts'
import { openConsole } from '../console-page.ts'
import { allPassed, caretToLine, documentEditor, hasFocus, replaceInLine, stageOf } from '../editor-page.ts'

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
    await page.getByRole('tooltip', { name: /faults: fix them first/ }).waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await caretToLine(page, '"transformation"')
    await page.keyboard.press('Shift+End')
    await page.keyboard.insertText('  "transformation": {')
    await faults.getByText('Expected a').first().waitFor()
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
    const path = options.filter({ hasText: 'requestBody.patient.name' })
    await path.waitFor()
    // The list takes no choice in the moment after it has opened.
    const chosen = async () => {
      if (await path.isVisible()) await path.click()
      return (await documentEditor(page).textContent()) ?? ''
    }
    await until(chosen, (text) => text.includes('"requestBody.patient.name": ""'))
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
    await page.getByText('There is no message: enter a body').waitFor()
    assert.equal(await page.locator('.run-result').count(), 0)
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
    assert.equal(await page.locator('.stale').count(), 0)
    await replaceInLine(page, '"name": "Answers"', '"name": "Answers')
    await page.locator('.run-result.stale').getByText('This run is that of an earlier text').waitFor()
    await checkAccessibility()
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
