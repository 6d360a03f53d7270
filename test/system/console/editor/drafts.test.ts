/** Drafts in the editor: what several people change, and what survives a reload and a lost service. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import { startServiceWithKeys } from '../../../support/api/access/service-with-keys.ts'
import { json, type Service, startService } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'
import { NO_BROWSER, signIn } from '../browser.ts'
import { openConsole } from '../console-page.ts'
import { documentEditor, replaceInLine } from '../editor-page.ts'

describe('drafts', { skip: NO_BROWSER }, () => {
  let service: Service
  before(async () => {
    service = await startService()
  })
  after(() => service.stop())

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
})
