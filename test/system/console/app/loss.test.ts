/** The service is killed while somebody edits: nothing that was typed is lost, and all goes on when it is back. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { endpointDocument, json } from '../../../support/service.ts'
import { freshFolder, spawnService } from '../../../support/spawned-service.ts'
import { until } from '../../../support/until.ts'
import { loaded, NO_BROWSER, openPage } from '../browser.ts'

describe('a service that is killed while somebody edits', { skip: NO_BROWSER }, () => {
  test('loses no text; its page goes on and publishes when it is back', async (test) => {
    const folder = freshFolder(test)
    const first = await spawnService(folder)
    test.after(() => void first.child.kill('SIGKILL'))
    const document = endpointDocument({ name: 'Orders', endpoint: { pattern: '/orders' } })
    const stored = await fetch(`${first.adminUrl}/endpoints`, json('POST', document))
    const { _id: id } = (await stored.json()) as { _id: string }
    const { page, misdeeds, close } = await openPage(first.adminUrl)
    test.after(close)
    await page.goto(`/console/endpoints/${id}/edit`)
    await loaded(page)
    await page.getByText('· live').waitFor()
    const editor = page.getByRole('textbox', { name: 'Document' })
    await editor.getByText('"Orders"').click()
    first.child.kill('SIGKILL')
    await first.ended
    const bar = page.getByRole('alert').filter({ hasText: 'has not answered since' })
    await page.keyboard.press('End')
    await page.keyboard.type('\n"description": "typed while it was away",')
    await bar.waitFor()
    await editor.getByText('typed while it was away').waitFor()
    // A publication now fails with a sentence; the draft stays.
    await page.keyboard.press('Control+s')
    const dialog = page.getByRole('dialog', { name: 'Publish' })
    await dialog.getByRole('button', { name: 'Publish', exact: true }).click()
    await dialog.getByText('The service does not answer').first().waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await editor.getByText('typed while it was away').waitFor()

    const port = new URL(first.adminUrl).port
    const second = await spawnService(folder, { env: { ADMIN_PORT: port } })
    test.after(() => void second.child.kill('SIGKILL'))
    // The page asks from time to time, and its feed goes on with the first answer.
    await bar.waitFor({ state: 'detached' })
    await page.getByText('· live').waitFor()
    await editor.getByText('typed while it was away').waitFor()
    await page.keyboard.press('Control+s')
    await dialog.getByLabel('Note').fill('after the loss')
    await dialog.getByRole('button', { name: 'Publish', exact: true }).click()
    await page.getByText('Published as version 2').waitFor()
    const read = async () =>
      (await (await fetch(`${second.adminUrl}/endpoints/${id}`)).json()) as { description?: string }
    assert.equal(
      (await until(read, ({ description }) => description !== undefined)).description,
      'typed while it was away',
    )
    await page.reload()
    await loaded(page)
    await editor.getByText('typed while it was away').waitFor()
    await page.getByText('as stored').waitFor()
    assert.deepEqual(
      misdeeds.filter((one) => !one.includes('net::ERR_')),
      [],
    )
  })
})
