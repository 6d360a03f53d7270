/** The console in a browser: from an empty service to a mapped message. Everything else of it: test/system/console/. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { json } from '../../support/service.ts'
import { NO_BROWSER } from '../console/browser.ts'
import { openConsole } from '../console/console-page.ts'

describe('the console', { skip: NO_BROWSER }, () => {
  test('leads an empty service to an endpoint made of a message', async (test) => {
    const { service, page, open, checkAccessibility } = await openConsole(test)
    await open('')
    await page.getByText('This service has no endpoints yet').waitFor()
    await checkAccessibility()
    await page.getByRole('link', { name: 'New endpoint' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Läb orders')
    assert.equal(await page.getByLabel('Path').inputValue(), '/lab-orders')
    await page.getByLabel('A message as sent').fill('{ "nr": 17, "ward": "A3" }')
    await checkAccessibility()
    await page.getByRole('button', { name: 'Create endpoint' }).click()
    await page.waitForURL(/\/endpoints\/[0-9a-f]{24}\/edit\?test=the(\+|%20)sample/)
    await page.getByText(`Messages go to POST ${service.url}/lab-orders from now on.`).waitFor()
    await page.getByText(`POST ${service.url}/lab-orders`, { exact: true }).waitFor()
    await page.getByRole('button', { name: /^Actions of / }).click()
    await page.getByRole('menuitem', { name: 'Copy as curl …' }).click()
    const command = page.getByRole('group', { name: 'Command' })
    await command.getByText(`curl -sS --globoff -X 'POST' '${service.url}/lab-orders'`).waitFor()
    await command.getByText(`--data-raw '{ "nr": 17, "ward": "A3" }'`).waitFor()
    await checkAccessibility()
    const reply = await service.fetch('/lab-orders', json('POST', { nr: 18, ward: 'B1' }))
    assert.deepEqual([reply.status, reply.json()], [200, { nr: 18, ward: 'B1' }])
  })
})
