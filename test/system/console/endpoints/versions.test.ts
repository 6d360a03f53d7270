/** `/endpoints/:id/versions`: what differs, going back, and deleting, in a real browser. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { json, type Service } from '../../../support/service.ts'
import { NO_BROWSER } from '../browser.ts'
import { openConsole } from '../console-page.ts'

async function withVersions(service: Service): Promise<string> {
  const { _id } = await service.register({
    name: 'Orders',
    endpoint: { pattern: '/orders' },
    inputMapping: { 'requestBody.nr': 'nr' },
  })
  for (const [note, name] of [
    ['the ward', 'ward'],
    ['the bed', 'bed'],
  ] as const) {
    await service.fetch(`/endpoints/${_id}`, {
      ...json('PATCH', { inputMapping: { [`requestBody.${name}`]: name } }),
      headers: { 'content-type': 'application/json', 'x-crosswalk-change-note': note },
    })
  }
  return _id
}

describe('the versions of an endpoint', { skip: NO_BROWSER }, () => {
  test('are compared by path and side by side, at a URL', async (test) => {
    const { service, page, open, checkAccessibility } = await openConsole(test)
    const id = await withVersions(service)
    await open(`endpoints/${id}/versions`)
    const changes = page.locator('.change-list li')
    await changes.first().waitFor()
    assert.match((await changes.allInnerTexts()).join(), /added.*inputMapping\.requestBody\\\.bed/s)
    await page.getByRole('textbox', { name: 'Version 3' }).waitFor()
    await checkAccessibility()
    await page.getByLabel('From', { exact: true }).selectOption('1')
    await page.waitForURL(/from=1/)
    await changes.nth(1).waitFor()
    await page.reload()
    await changes.nth(1).waitFor()
    assert.equal(await page.getByLabel('From', { exact: true }).inputValue(), '1')
    assert.match(await page.getByRole('row', { name: /Version 2/ }).innerText(), /the ward/)
  })

  test('stand side by side at 360 pixels, without what the service sets itself', async (test) => {
    const { service, page, open, checkAccessibility } = await openConsole(test, { width: 360 })
    const id = await withVersions(service)
    await open(`endpoints/${id}/versions`)
    const columns = page.locator('.diff-view').getByRole('textbox')
    await columns.filter({ hasText: 'requestBody.bed' }).waitFor()
    const [before, after] = [await columns.first().boundingBox(), await columns.last().boundingBox()]
    assert.ok(before !== null && after !== null)
    assert.ok(before.x >= 0 && before.x + before.width <= after.x && after.x + after.width <= 360)
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360)
    assert.doesNotMatch((await columns.allInnerTexts()).join(), /updatedAt|createdAt|_id/)
    await checkAccessibility()
  })

  test('can be restored, unless the endpoint has changed since the plan was shown', async (test) => {
    const { service, page, open, checkAccessibility } = await openConsole(test)
    const id = await withVersions(service)
    await open(`endpoints/${id}/versions`)
    await page.getByRole('button', { name: 'Restore version 1' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('removed').nth(1).waitFor()
    await checkAccessibility()
    await service.fetch(`/endpoints/${id}`, json('PATCH', { description: 'by somebody else' }))
    await dialog.getByLabel('Note').fill('back to the start')
    await dialog.getByRole('button', { name: 'Restore', exact: true }).click()
    await dialog.getByText('PRECONDITION_FAILED').waitFor()
    await dialog.getByRole('button', { name: 'Retry' }).click()
    await dialog.getByText('description').waitFor()
    assert.equal(await dialog.getByLabel('Note').inputValue(), 'back to the start')
    await dialog.getByRole('button', { name: 'Restore', exact: true }).click()
    await page.getByText('Version 1 is active again.').waitFor()
    await page.getByRole('row', { name: /Version 5.*restored from 1.*back to the start/s }).waitFor()
    const { inputMapping, description } = (await service.fetch(`/endpoints/${id}`)).json()
    assert.deepEqual([inputMapping, description], [{ 'requestBody.nr': 'nr' }, undefined])
  })

  test('stay when the endpoint is deleted, and bring it back', async (test) => {
    const { service, page, open, checkAccessibility } = await openConsole(test)
    const id = await withVersions(service)
    await open(`endpoints/${id}/versions`)
    await page.getByRole('button', { name: 'Delete endpoint …' }).click()
    const dialog = page.getByRole('dialog')
    const remove = dialog.getByRole('button', { name: 'Delete endpoint' })
    assert.equal(await remove.getAttribute('aria-disabled'), 'true')
    await checkAccessibility()
    await dialog.getByLabel('Name of the endpoint').fill('Orders')
    await remove.click()
    await page.getByText('There are no endpoints yet').waitFor()
    assert.equal((await service.fetch(`/endpoints/${id}`)).status, 404)
    await open(`endpoints/${id}/versions`)
    await page.getByText('There is no such endpoint now').waitFor()
    await page.getByRole('button', { name: 'Restore version 3' }).click()
    await dialog.getByText('it comes back with its old id').waitFor()
    await dialog.getByRole('button', { name: 'Restore', exact: true }).click()
    await page.getByText('Version 3 is active again.').waitFor()
    assert.equal((await service.fetch(`/endpoints/${id}`)).status, 200)
  })
})
