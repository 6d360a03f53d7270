/** /endpoints: the list of endpoints in a real browser. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page, Route } from 'playwright-core'
import { endpointDocument, json } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'
import { NO_BROWSER } from '../browser.ts'
import { openConsole } from '../console-page.ts'
import { allPassed, hasFocus } from '../editor-page.ts'

const names = (page: Page) => page.getByRole('rowheader').getByRole('link').allTextContents()
const rowOf = (page: Page, name: string) => page.getByRole('row').filter({ has: page.getByRole('link', { name }) })

/** Before the list loads again by itself. */
const WITHIN_MS = 20_000

/** The answer to the first request of such a URL is asked for at once, and reaches the page when it is released. */
async function holdBack(page: Page, isHeld: (url: URL) => boolean) {
  const [asked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const hold = async (route: Route) => {
    const response = await route.fetch()
    asked.resolve()
    await released.promise
    await route.fulfill({ response })
  }
  await page.route(isHeld, hold, { times: 1 })
  return { asked: asked.promise, release: () => released.resolve() }
}

/** Out: waits until the service has sent the page a change of endpoints. */
async function followChanges(page: Page): Promise<() => Promise<unknown>> {
  await page.evaluate(`fetch('/events?types=endpoints').then(({ body }) => { window.changes = body.getReader() })`)
  return () =>
    page.evaluate(`(async () => {
      const decoder = new TextDecoder()
      for (let text = ''; !text.includes('event: endpoints'); ) text += decoder.decode((await window.changes.read()).value)
    })()`)
}

describe('/endpoints', { skip: NO_BROWSER }, () => {
  test('a sample becomes a draft that runs its first test, and is published with its tests', async (test) => {
    const { service, page, open } = await openConsole(test)
    await open('endpoints?dialog=new')
    await page.getByRole('button', { name: 'Start from a sample' }).click()
    await page.getByRole('button', { name: 'Use Registration form to FHIR Patient' }).click()
    await page.waitForURL(/\/endpoints\/new/)
    await allPassed(page)
    assert.deepEqual(await (await service.fetch('/endpoints')).json(), [])
    await page.getByRole('button', { name: 'Publish …' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Publish', exact: true }).click()
    await page.waitForURL(/\/endpoints\/[0-9a-f]{24}\/edit/)
    const [stored] = (await service.fetch('/endpoints')).json<readonly { _id: string; name: string }[]>()
    assert.equal(stored?.name, 'Registration form to FHIR Patient')
    const { tests } = (await service.fetch(`/endpoints/${stored._id}/tests`)).json<{ tests: readonly unknown[] }>()
    assert.ok(tests.length > 1)
  })

  test('sorts and finds them; the URL has both', async (test) => {
    const { service, page, open } = await openConsole(test)
    await service.register({ name: 'Orders', endpoint: { pattern: '/orders' }, labels: { team: 'lab' } })
    await service.register({ name: 'Admissions', endpoint: { pattern: '/admissions' } })
    await service.register({ name: 'Results', endpoint: { pattern: '/results' }, labels: { 'team.of': 'x=y' } })
    await open('endpoints')
    assert.deepEqual(await names(page), ['Admissions', 'Orders', 'Results'])
    await page.getByRole('button', { name: 'Name' }).click()
    await page.waitForURL(/sort=-name/)
    await page.getByRole('columnheader', { name: 'Name' }).and(page.locator('[aria-sort="descending"]')).waitFor()
    await until(
      () => names(page),
      (all) => all[0] === 'Results',
    )
    await page.keyboard.press('/')
    await page.keyboard.type('lab')
    await page.waitForURL(/q=lab/)
    await page.getByText('1 of 1').waitFor()
    assert.deepEqual(await names(page), ['Orders'])
    await page.reload()
    await page.getByText('1 of 1').waitFor()
    assert.equal(await page.getByRole('searchbox', { name: 'Search' }).inputValue(), 'lab')
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByText('3 of 3').waitFor()
    for (const [label, found] of [
      ['team=lab', 'Orders'],
      ['team.of=x=y', 'Results'],
    ] as const) {
      await page.getByRole('textbox', { name: 'Label' }).fill(label)
      await until(
        () => names(page),
        (all) => all.length === 1 && all[0] === found,
      )
    }
  })

  test('show their last hour, whose failures lead to their messages', async (test) => {
    const { service, page, open, checkAccessibility } = await openConsole(test)
    await service.register({ name: 'Idle', endpoint: { pattern: '/idle' } })
    await service.register({ name: 'Orders', endpoint: { pattern: '/orders' } })
    for (const body of ['{}', '{}', '{']) {
      await service.fetch('/orders', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    }
    await open('endpoints')
    const orders = rowOf(page, 'Orders')
    await orders.getByRole('img', { name: '3 in the last hour' }).waitFor()
    await orders.getByText(/^\d.* ms$/).waitFor()
    assert.equal(await rowOf(page, 'Idle').getByRole('img').count(), 0)
    await checkAccessibility()
    await orders.getByRole('link', { name: '1 of 3, 33' }).click()
    await page.waitForURL(/messages\?.*outcome=/)
    await page.getByText('BODY_UNREADABLE').first().waitFor()
  })

  test('are made in a dialog, which shows all faults of what was typed, each at its field', async (test) => {
    const { service, page, open, checkAccessibility } = await openConsole(test)
    await service.register({ name: 'Orders', endpoint: { pattern: '/orders/:id' } })
    await open('endpoints?dialog=new')
    const dialog = page.getByRole('dialog', { name: 'New endpoint' })
    const faults = {
      Name: dialog.locator('.field', { has: page.getByLabel('Name') }).locator('.fault'),
      Path: dialog.locator('.field', { has: page.getByLabel('Path', { exact: true }) }).locator('.fault'),
      message: dialog.locator('.field', { has: page.getByLabel('A message as sent') }).locator('.fault'),
    }
    await dialog.getByLabel('Path', { exact: true }).fill('orders/:id/:id')
    await dialog.getByLabel('A message as sent').fill('{ nr')
    await dialog.getByRole('button', { name: 'Create endpoint' }).click()
    await faults.Name.getByText('not empty').waitFor()
    await faults.Path.getByText('must start with "/"').waitFor()
    await faults.message.getByText('not well-formed').waitFor()
    await checkAccessibility()
    await until(() => hasFocus(dialog.getByLabel('Name')), Boolean)
    await dialog.getByLabel('Name').fill('Orders')
    await faults.Name.waitFor({ state: 'detached' })
    assert.equal(await faults.Path.count(), 1)
    await dialog.getByLabel('Path', { exact: true }).fill('/orders/:nr')
    await dialog.getByRole('button', { name: 'Create endpoint' }).click()
    await faults.Name.getByText('has this name already').waitFor()
    await faults.Path.getByText('answers the same paths').waitFor()
    await faults.message.getByText('not well-formed').waitFor()
  })

  test('lead back to the list from an id that is none', async (test) => {
    const { page, open } = await openConsole(test)
    await open('endpoints/0123456789abcdef01234567/edit')
    await page
      .getByRole('alert')
      .getByText(/_UNKNOWN/)
      .waitFor()
    assert.equal(await page.getByRole('button', { name: 'Retry' }).count(), 0)
    await page.getByRole('link', { name: 'All endpoints' }).click()
    await page.getByText('There are no endpoints yet').waitFor()
  })

  test('counts messages as they are completed, without moving a row', async (test) => {
    const { service, page, open } = await openConsole(test)
    await service.register({ name: 'Busy', endpoint: { pattern: '/busy' }, inputValidation: { type: 'object' } })
    await service.register({ name: 'Calm', endpoint: { pattern: '/calm' } })
    await open('endpoints')
    await page.getByText('· live').waitFor()
    for (const body of [{}, [], []]) await service.fetch('/busy', json('POST', body))
    await rowOf(page, 'Busy').getByText('2 of 3').waitFor()
    await service.register({ name: 'Added', endpoint: { pattern: '/added' } })
    await page.getByRole('button', { name: '1 new: show' }).waitFor()
    assert.deepEqual(await names(page), ['Busy', 'Calm'])
    await page.getByRole('button', { name: '1 new: show' }).click()
    assert.deepEqual(await names(page), ['Added', 'Busy', 'Calm'])
  })

  test('loads the next page also if an event makes the list load again meanwhile', async (test) => {
    const { service, page, open } = await openConsole(test)
    const documents = Array.from({ length: 250 }, (_, index) => ({
      op: 'create',
      document: endpointDocument({ endpoint: { pattern: `/many/${index}` } }),
    }))
    const stored = await fetch(`${service.adminUrl}/endpoints/batch`, json('POST', { operations: documents }))
    assert.equal(stored.status, 200, await stored.text())
    await open('endpoints')
    await page.getByText('· live').waitFor()
    const { asked, release } = await holdBack(page, (url) => url.searchParams.has('cursor'))
    const untilChanged = await followChanges(page)
    await page.getByRole('button', { name: 'Show more' }).click()
    await asked
    await service.register({ endpoint: { pattern: '/added' } })
    await untilChanged()
    release()
    await page.getByText('250 of 251').waitFor({ timeout: WITHIN_MS })
  })

  test('shows a change that was made while the list loaded for the first time', async (test) => {
    const { service, page, open } = await openConsole(test)
    await service.register({ name: 'Orders', endpoint: { pattern: '/orders' } })
    await open('keys')
    const untilChanged = await followChanges(page)
    const { asked, release } = await holdBack(page, (url) => url.searchParams.get('limit') === '200')
    await page.getByRole('link', { name: 'Endpoints', exact: true }).click()
    await asked
    await service.register({ name: 'Results', endpoint: { pattern: '/results' } })
    await untilChanged()
    release()
    const either = page.getByRole('button', { name: '1 new: show' }).or(page.getByText('2 of 2'))
    await either.waitFor({ timeout: WITHIN_MS })
  })

  test('shows the failure of the service with its code, and tries again', async (test) => {
    const { service, page, open, checkAccessibility } = await openConsole(test)
    await service.register({ name: 'Orders', endpoint: { pattern: '/orders' } })
    await open('endpoints')
    await page.getByText('· live').waitFor()
    const isList = (url: URL) => url.searchParams.get('view') === 'summary'
    const failure = { error: 'The store does not answer.', code: 'STORE_UNAVAILABLE' }
    await page.route(isList, (route) => route.fulfill({ status: 503, json: failure }))
    // Any change of an endpoint makes the list load again.
    await service.register({ name: 'Results', endpoint: { pattern: '/results' } })
    const alert = page.getByRole('alert').filter({ hasText: 'The store does not answer.' })
    await alert.getByText('STORE_UNAVAILABLE').waitFor()
    // What was there before stays.
    assert.deepEqual(await names(page), ['Orders'])
    await checkAccessibility()
    await page.unroute(isList)
    await alert.getByRole('button', { name: 'Retry' }).click()
    await alert.waitFor({ state: 'detached' })
  })

  test('can be read by everybody at 360 pixels, dark', async (test) => {
    const { service, page, open, checkAccessibility } = await openConsole(test, { width: 360, colorScheme: 'dark' })
    await service.register({
      name: 'A long name of an endpoint',
      endpoint: { pattern: `/${'long'.repeat(40)}` },
      labels: { team: 'lab' },
    })
    await open('endpoints')
    await page.getByRole('link', { name: 'A long name' }).waitFor()
    await checkAccessibility()
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360)
  })
})
