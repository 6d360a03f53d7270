/** Import: a plan with every fault first, then all documents or none, each as the text that it had. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { json } from '../../../support/service.ts'
import { NO_BROWSER } from '../browser.ts'
import { openConsole } from '../console-page.ts'

const documentText = (name: string, pattern: string, output = 'JSON') =>
  `{ "name": "${name}", "endpoint": { "pattern": "${pattern}" }, "transformation": { "input": "JSON", "output": "${output}" } }`

describe('import', { skip: NO_BROWSER }, () => {
  test('shows faults at their documents, stores nothing with them, and all documents without', async (test) => {
    const { service, page, open, checkAccessibility } = await openConsole(test)
    const { _id } = await service.register({ name: 'Orders', endpoint: { pattern: '/orders' } })
    await open('endpoints')
    await page.getByRole('button', { name: 'Import …' }).click()
    await page.getByLabel('Files').setInputFiles([
      { name: 'a.json', mimeType: 'application/json', buffer: Buffer.from(documentText('Orders', '/orders-2')) },
      {
        name: 'b.json',
        mimeType: 'application/json',
        buffer: Buffer.from(`[${documentText('Results', '/results', 'CSV')}]`),
      },
    ])
    await page.getByText('a.json, b.json').waitFor()
    await checkAccessibility()
    await page.getByRole('button', { name: 'Show the plan' }).click()
    await page.getByText('1 to create, 1 to replace, 1 with faults.').waitFor()
    await page.getByText('transformation.output', { exact: true }).waitFor()
    const refused = page.getByRole('button', { name: 'Import 2 endpoints' })
    assert.equal(await refused.getAttribute('aria-disabled'), 'true')
    await checkAccessibility()
    await page.getByRole('button', { name: 'Back' }).click()
    await page
      .getByLabel('Files')
      .setInputFiles([
        { name: 'a.json', mimeType: 'application/json', buffer: Buffer.from(documentText('Orders', '/orders-2')) },
      ])
    await page.getByText('a.json', { exact: true }).waitFor()
    await page.getByLabel('Or paste documents').fill(documentText('Results', '/results'))
    await page.getByRole('button', { name: 'Show the plan' }).click()
    await page.getByText('replaces: version 2').waitFor()
    await page.getByLabel('Note').fill('From the test system – März')
    await page.getByRole('button', { name: 'Import 2 endpoints' }).click()
    await page.getByText('2 endpoints are imported.').waitFor()
    await page.getByRole('link', { name: 'Results' }).waitFor()
    const [newest] = (await service.fetch(`/endpoints/${_id}/versions`)).json<{ origin: { note?: string } }[]>()
    assert.equal(newest?.origin.note, 'From the test system – März')
  })

  test('overwrites no change that was made since the plan was shown', async (test) => {
    const { service, page, open } = await openConsole(test)
    const { _id } = await service.register({ name: 'Orders', endpoint: { pattern: '/orders' } })
    await open('endpoints')
    await page.getByRole('button', { name: 'Import …' }).click()
    await page.getByLabel('Or paste documents').fill(documentText('Orders', '/orders-2'))
    await page.getByRole('button', { name: 'Show the plan' }).click()
    await page.getByText('replaces: version 2').waitFor()
    await service.fetch(`/endpoints/${_id}`, json('PATCH', { description: 'by somebody else' }))
    await page.getByRole('button', { name: 'Import 1 endpoint' }).click()
    await page.getByRole('dialog').getByRole('alert').getByText('operations[0].ifMatch').waitFor()
    const stored = (await service.fetch(`/endpoints/${_id}`)).json<{ description?: string; endpoint: object }>()
    assert.equal(stored.description, 'by somebody else')
    await page.getByRole('button', { name: 'Back' }).click()
    await page.getByRole('button', { name: 'Show the plan' }).click()
    await page.getByText('replaces: version 3').waitFor()
    await page.getByRole('button', { name: 'Import 1 endpoint' }).click()
    await page.getByText('One endpoint is imported.').waitFor()
  })
})
