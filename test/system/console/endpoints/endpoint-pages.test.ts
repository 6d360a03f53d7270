/** Import of endpoints, and the pages of versions and statistics of one, in a real browser. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { json, type Service } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'
import { NO_BROWSER } from '../browser.ts'
import { openConsole } from '../console-page.ts'

const documentText = (name: string, pattern: string, output = 'JSON') =>
  `{ "name": "${name}", "endpoint": { "pattern": "${pattern}" }, "transformation": { "input": "JSON", "output": "${output}" } }`

async function chooseAction(page: Page, name: string, action: string): Promise<void> {
  await page.getByRole('button', { name: `Actions of ${name}` }).click()
  await page.getByRole('menuitem', { name: action }).click()
}

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
        buffer: Buffer.from(`[${documentText('Results', '/results', 'YAML')}]`),
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

  test('are side by side at 360 pixels, without what the service sets itself', async (test) => {
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
    await chooseAction(page, 'Orders', 'Delete …')
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

describe('the statistics of an endpoint', { skip: NO_BROWSER }, () => {
  test('say that there were no messages, then count them, with a table for each chart', async (test) => {
    const { service, page, open, checkAccessibility } = await openConsole(test)
    const { _id } = await service.register({
      name: 'Orders',
      endpoint: { pattern: '/orders' },
      inputValidation: { properties: { requestBody: { required: ['nr'] } } },
    })
    await open(`endpoints/${_id}/stats`)
    await page.getByText('No messages in the last 24 hours').waitFor()
    for (const body of [{ nr: 1 }, {}, { nr: 2 }, { nr: 3 }]) await service.fetch('/orders', json('POST', body))
    await page.getByText('25 % of all').waitFor()
    await page.locator('canvas').nth(1).waitFor()
    await checkAccessibility()
    await page.getByText('As a table').first().click()
    await page.getByRole('columnheader', { name: 'Messages' }).waitFor()
    const cells = await page.getByRole('table').first().getByRole('cell').allTextContents()
    assert.deepEqual([cells.length, cells.map(Number).reduce((sum, value) => sum + value)], [120, 5])
    await page.getByRole('heading', { name: 'Drift of the messages' }).waitFor()
    const chart = page.getByRole('slider', { name: /^Messages a minute/ })
    const seesFailed = async () => {
      await page.waitForURL(
        /\/messages\?endpoint=[0-9a-f]{24}&outcome=partial&outcome=refused&outcome=failed&from=.+&to=/,
      )
      await page.getByRole('row', { name: /VALIDATION_FAILED/ }).waitFor()
      await page.goBack()
      await chart.locator('canvas').waitFor()
    }
    const [, ...minutes] = await page.getByRole('table').first().getByRole('row').all()
    const counts = await Promise.all(minutes.map((row) => row.getByRole('cell').nth(1).textContent()))
    const minute = counts.indexOf('1')
    await minutes[minute]?.getByRole('link').nth(1).click()
    await seesFailed()
    const plot = await chart.locator('.u-over').boundingBox()
    assert.ok(plot)
    // The bar of failures is the lower one.
    await page.mouse.click(plot.x + (plot.width * (minute + 0.5)) / counts.length, plot.y + plot.height - 3)
    await seesFailed()
    await chart.focus()
    const atLast = await chart.getAttribute('aria-valuetext')
    await page.keyboard.press('Home')
    assert.notEqual(await chart.getAttribute('aria-valuetext'), atLast)
    await page.keyboard.press('End')
    while (!/Messages [1-9]/.test((await chart.getAttribute('aria-valuetext')) ?? '')) {
      await page.keyboard.press('ArrowLeft')
    }
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/messages\?endpoint=[0-9a-f]{24}&from=.+&to=/)
    await page.goBack()
    await page.getByLabel('Period', { exact: true }).selectOption('day')
    await page.waitForURL(/period=day/)
    await page.getByRole('group').first().waitFor({ state: 'attached' })
    await page.reload()
    await page.getByText('25 % of all').waitFor()
    assert.equal(await page.getByLabel('Period', { exact: true }).inputValue(), 'day')
  })

  test('show fields that nothing reads and fields that did not arrive, with the places that read them', async (test) => {
    const { service, page, open, checkAccessibility } = await openConsole(test, { env: { DRIFT_SAMPLE: '1' } })
    const { _id } = await service.register({
      name: 'Orders',
      endpoint: { pattern: '/orders' },
      inputMapping: { 'requestBody.nr': 'nr', 'requestBody.ward': 'ward' },
    })
    await service.fetch('/orders', json('POST', { nr: 1, bed: '<img src=x onerror=alert(1)>' }))
    await until(
      async () => (await service.fetch(`/endpoints/${_id}/drift`)).json<{ sampled: number }>().sampled,
      (sampled) => sampled === 1,
    )
    await open(`endpoints/${_id}/stats`)
    await page.getByRole('row', { name: /requestBody\.bed.*string.*1 of 1/ }).waitFor()
    const missing = page.getByRole('row', { name: /requestBody\.ward.*never/ })
    assert.match((await missing.getByRole('link').getAttribute('href')) ?? '', /\/edit\?path=inputMapping\.requestBody/)
    await checkAccessibility()
  })
})

describe('an endpoint', { skip: NO_BROWSER }, () => {
  test('is sent a real message from its head, whose answer leads to the record', async (test) => {
    const { service, page, open, checkAccessibility } = await openConsole(test)
    const { _id } = await service.register({
      endpoint: { pattern: '/orders/:nr' },
      inputMapping: { 'urlParams.nr': 'nr', 'query.from': 'from', 'requestBody.name': 'name' },
    })
    await open(`endpoints/${_id}/versions`)
    await page.getByRole('button', { name: /^Actions of / }).click()
    await checkAccessibility()
    await page.getByRole('menuitem', { name: 'Send a message …' }).click()
    await page.getByLabel('nr in the path').fill('7')
    await page.getByLabel('Query').fill('from=lab&from=ward')
    await page.getByLabel('Body').fill('{ "name": "Anna" }')
    await checkAccessibility()
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText('The endpoint answered 200 after').waitFor()
    const answer = await page.getByRole('group', { name: 'Answer' }).textContent()
    assert.deepEqual(JSON.parse(answer ?? ''), { nr: '7', from: ['lab', 'ward'], name: 'Anna' })
    await checkAccessibility()
    await page.getByRole('link', { name: 'The message' }).click()
    await page.waitForURL(/messages\/[0-9a-f]{24}/)
  })

  test('is paused and resumed at its head, by versions of that one change', async (test) => {
    const { service, page, open, checkAccessibility } = await openConsole(test)
    const { _id } = await service.register({ name: 'Orders', endpoint: { pattern: '/orders' } })
    const sent = async () => (await service.fetch('/orders', json('POST', { a: 1 }))).status
    await open(`endpoints/${_id}/versions`)
    await chooseAction(page, 'Orders', 'Pause …')
    await page.getByText('requests are answered with 503').waitFor()
    await checkAccessibility()
    await page.getByRole('button', { name: 'Pause endpoint' }).click()
    await page.getByText('The endpoint is paused.').waitFor()
    await page.locator('.endpoint-head .chip', { hasText: 'Paused' }).waitFor()
    assert.equal(await sent(), 503)
    await open('endpoints')
    await page.getByRole('row', { name: /Orders.*Paused/ }).waitFor()
    await chooseAction(page, 'Orders', 'Resume …')
    await page.getByRole('button', { name: 'Resume endpoint' }).click()
    await page.getByText('The endpoint is resumed.').waitFor()
    assert.equal(await sent(), 200)
    const versions = (await service.fetch(`/endpoints/${_id}/versions`)).json<{ origin: { note?: string } }[]>()
    assert.deepEqual(
      versions.map(({ origin }) => origin.note),
      ['Resumed.', 'Paused.', undefined],
    )
    const diff = await service.fetch(`/endpoints/${_id}/versions/1/diff/3`)
    assert.deepEqual(diff.json<{ changes: unknown[] }>().changes, [])
  })

  test('is duplicated as a draft that can be published as it is, and exported, from the list', async (test) => {
    const { service, page, open, checkAccessibility } = await openConsole(test)
    const { _id } = await service.register({
      name: 'Orders',
      endpoint: { pattern: '/orders' },
      description: 'of wards',
    })
    await open('endpoints')
    const download = page.waitForEvent('download')
    await chooseAction(page, 'Orders', 'Export')
    const file = await download
    assert.equal(file.suggestedFilename(), `endpoint-${_id}.json`)
    assert.equal(JSON.parse(await readFile(await file.path(), 'utf8')).description, 'of wards')
    // By keyboard: the menu takes the focus, and typing finds its items.
    await page.getByRole('button', { name: 'Actions of Orders' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: 'Duplicate' }).waitFor()
    await page.keyboard.type('du')
    await page.keyboard.press('Enter')
    await page.waitForURL(/endpoints\/new$/)
    await page.getByText('The draft is a copy.').waitFor()
    await checkAccessibility()
    await page.getByRole('button', { name: 'Publish …' }).click()
    await page.getByRole('button', { name: 'Publish', exact: true }).click()
    await page.waitForURL(/endpoints\/[0-9a-f]{24}\/edit/)
    type Copied = { endpoint: { pattern: string }; description: string }
    const [copied] = (await service.fetch('/endpoints?name=Orders%20copy')).json<Copied[]>()
    assert.deepEqual([copied?.endpoint.pattern, copied?.description], ['/copy/orders', 'of wards'])
  })
})
