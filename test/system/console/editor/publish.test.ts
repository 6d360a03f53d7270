/** Drafts in the editor, and publishing: what several people change, what survives a reload and a lost service, and tests that must pass. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import {
  bearer,
  JSON_TYPE,
  type ServiceWithKeys,
  startServiceWithKeys,
} from '../../../support/api/access/service-with-keys.ts'
import { endpointDocument, json, type Service, startService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'
import { loaded, NO_BROWSER, signIn } from '../browser.ts'
import { openConsole } from '../console-page.ts'
import { documentEditor, replaceInLine } from '../editor-page.ts'

describe('drafts', { skip: NO_BROWSER }, () => {
  let service: Service
  before(async () => {
    service = await startService()
  })
  after(() => service.stop())

  const stored = async (id: string) => (await service.fetch(`/endpoints/${id}`)).json()

  test('keeps Publish in view at the end of the page, and wraps long lines from then on', async (t) => {
    const { _id: id } = await service.register({
      endpoint: { pattern: '/long' },
      description: 'long '.repeat(200),
      inputMapping: { 'requestBody.a': 'a' },
    })
    const { page, open } = await openConsole(t, { of: service, width: 1280, height: 700 })
    const isPublishShown = async () => {
      await page.evaluate('scrollTo(0, document.body.scrollHeight)')
      const { y = -1 } = (await page.getByRole('button', { name: 'Publish …' }).boundingBox()) ?? {}
      return y >= 0 && y < 100
    }
    const isWrapped = () => page.locator('.document-text .cm-lineWrapping').count()
    await open(`endpoints/${id}/mapping`)
    assert.ok(await isPublishShown())
    await open(`endpoints/${id}/edit`)
    assert.ok(await isPublishShown())
    assert.equal(await isWrapped(), 0)
    const wrap = page.getByRole('button', { name: 'Wrap lines' })
    await wrap.click()
    assert.equal(await wrap.getAttribute('aria-pressed'), 'true')
    assert.equal(await isWrapped(), 1)
    await open(`endpoints/${id}/edit`)
    assert.equal(await isWrapped(), 1)
  })

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
    await page.getByText('Someone has published another version').waitFor()
    await page.getByRole('button', { name: 'Merge …' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('radio', { name: /Theirs/ }).click()
    await dialog.getByRole('button', { name: 'Take the merged document' }).click()
    await dialog.getByText('The documents say the same').waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('as stored').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    assert.match((await documentEditor(page).textContent()) ?? '', /"mine"/)
  })

  test('keeps unsaved text over a reload for its author, until signing out', async (t) => {
    const { service: own, keys } = await startServiceWithKeys()
    t.after(() => own.stop())
    const { page } = await openConsole(t, { of: own })
    // A reload asks again for a key that is not kept, so that another user can sign in.
    const enter = async (key: string) => {
      await page.getByLabel('Keep it until this tab is closed').uncheck()
      await signIn(page, key)
    }
    await page.goto('/console/endpoints/new')
    await enter(keys.author)
    await replaceInLine(page, '"name": ""', '"name": "Not saved yet"')
    const typed = page.getByRole('heading', { name: 'Not saved yet' })
    await typed.waitFor()
    await until(
      () => page.evaluate('sessionStorage.getItem("crosswalk-draft:new")'),
      (kept) => kept !== null,
    )
    await page.reload()
    await enter(keys.admin)
    await page.getByRole('heading', { name: 'New endpoint' }).waitFor()
    await page.reload()
    await enter(keys.author)
    await typed.waitFor()
    await page.getByRole('button', { name: /Account/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByLabel('API key or access token').waitFor()
    assert.deepEqual(await page.evaluate('Object.keys(sessionStorage)'), [])
  })
})

const GOOD = { name: 'the number', given: { message: { body: { nr: 1 } } }, expect: { answer: { body: { nr: 1 } } } }

describe('publishing', { skip: NO_BROWSER }, () => {
  let given: ServiceWithKeys
  const call = (method: string, path: string, body?: object) =>
    fetch(`${given.service.adminUrl}${path}`, {
      method,
      headers: { ...JSON_TYPE, ...bearer(given.keys.admin) },
      ...(body && { body: JSON.stringify(body) }),
    })
  /** Out: the id of an endpoint whose one test passes. */
  const tested = async (pattern: string): Promise<string> => {
    const document = endpointDocument({
      endpoint: { pattern },
      inputValidation: { type: 'object', required: ['nr'] },
      inputMapping: { 'requestBody.nr': 'nr' },
    })
    const { _id } = (await (await call('POST', '/endpoints', document)).json()) as { _id: string }
    assert.equal((await call('PUT', `/endpoints/${_id}/tests`, { tests: [GOOD] })).status, 200)
    return _id
  }
  before(async () => {
    given = await startServiceWithKeys({ TESTS_ON_CHANGE: 'require', MESSAGE_LOG: 'all' })
  })
  after(() => given.service.stop())

  for (const role of ['author', 'admin'] as const) {
    test(`of a document whose tests fail is refused; as ${role}`, async (t) => {
      const id = await tested(`/tested-by-${role}`)
      const { page, checkAccessibility } = await openConsole(t, { of: given.service })
      await page.goto(`/console/endpoints/${id}/edit`)
      await signIn(page, given.keys[role])
      await loaded(page)
      await replaceInLine(page, '"requestBody.nr": "nr"', '"requestBody.nr": "number"')
      await page.keyboard.press('Control+s')
      const dialog = page.getByRole('dialog', { name: 'Publish' })
      await dialog.getByText('0 passed, 1 failed').waitFor()
      await dialog.getByText('the number').waitFor()
      await dialog.getByRole('button', { name: 'Publish', exact: true }).click()
      await dialog.getByText('TESTS_FAILED').waitFor()
      await checkAccessibility()
      const override = dialog.getByRole('button', { name: 'Publish although tests fail' })
      if (role === 'author') {
        await dialog.getByText('An admin may publish').waitFor()
        assert.equal(await override.count(), 0)
        const stored = (await (await call('GET', `/endpoints/${id}`)).json()) as { inputMapping: object }
        assert.deepEqual(stored.inputMapping, { 'requestBody.nr': 'nr' })
        return
      }
      assert.equal(await override.getAttribute('aria-disabled'), 'true')
      await dialog.getByLabel('Reason to publish').fill('The upstream has renamed it – März')
      await override.click()
      await page.getByText('Published as version 2').waitFor()
      const versions = (await (await call('GET', `/endpoints/${id}/versions`)).json()) as {
        origin: { testsOverride?: string }
      }[]
      assert.equal(versions[0]?.origin.testsOverride, 'The upstream has renamed it – März')
    })
  }

  test('says each fault once, and offers no retry of what would be refused again', async (t) => {
    const id = await tested('/with-a-fault')
    const { page, checkAccessibility } = await openConsole(t, { of: given.service })
    await page.goto(`/console/endpoints/${id}/edit`)
    await signIn(page, given.keys.author)
    await loaded(page)
    await replaceInLine(page, '"requestBody.nr": "nr"', '"requestBody.nr": 17')
    await page.getByRole('region', { name: 'Faults' }).getByText('1 fault').waitFor()
    await page.keyboard.press('Control+s')
    const dialog = page.getByRole('dialog', { name: 'Publish' })
    await dialog.getByText('The changes are compared and the tests run').waitFor()
    await loaded(page)
    const faults = await dialog.getByRole('listitem').allInnerTexts()
    assert.equal(faults.length, 1)
    assert.match(faults[0] ?? '', /^inputMapping/)
    assert.equal(await dialog.getByRole('alert').count(), 0)
    assert.equal(await dialog.getByRole('button', { name: 'Retry' }).count(), 0)
    await checkAccessibility()
  })

  test('works from the mapping view, where the draft is the same, and leads back to the failures', async (t) => {
    const id = await tested('/from-the-mapping')
    const { headers } = await given.service.fetch('/from-the-mapping', json('POST', {}))
    const message = headers.get('x-crosswalk-message-id') ?? ''
    await until(
      async () => (await call('GET', `/messages/${message}`)).status,
      (status) => status === 200,
    )
    const { page, checkAccessibility } = await openConsole(t, { of: given.service })
    await page.goto(`/console/endpoints/${id}/mapping?message=${message}`)
    await signIn(page, given.keys.author)
    await loaded(page)
    await page.getByText('as stored').waitFor()
    const entries = page.getByRole('grid', { name: 'Entries' })
    await entries.getByRole('row', { name: /requestBody.nr to nr/ }).click()
    await page.getByRole('region', { name: 'Selected entry' }).getByLabel('Default, as JSON').fill('7')
    await page.keyboard.press('Enter')
    await page.getByText('draft with changes').waitFor()
    await page.keyboard.press('Control+s')
    const dialog = page.getByRole('dialog', { name: 'Publish' })
    await dialog.getByText('1 passed, 0 failed').waitFor()
    await checkAccessibility()
    await dialog.getByLabel('Note').fill('a default')
    await dialog.getByRole('button', { name: 'Publish', exact: true }).click()
    await page.getByText('Published as version 2').waitFor()
    await page.getByText('as stored').waitFor()
    const stored = (await (await call('GET', `/endpoints/${id}`)).json()) as { inputMapping: object }
    assert.deepEqual(stored.inputMapping, { 'requestBody.nr': { key: 'nr', default: 7 } })
    await page.getByRole('link', { name: 'Failures that are alike' }).click()
    await page.getByRole('heading', { name: 'Failures: VALIDATION_FAILED' }).waitFor()
  })
})
