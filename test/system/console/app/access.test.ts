/** Each role on each page; keys and the audit log; and nothing of a session after signing out. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { Role } from '../../../../src/core/access.ts'
import { bearer, type ServiceWithKeys, startServiceWithKeys } from '../../../support/api/access/service-with-keys.ts'
import { json } from '../../../support/service.ts'
import { loaded, NO_BROWSER, openPage, signIn } from '../browser.ts'
import { openConsole } from '../console-page.ts'

const AUTHORS: readonly Role[] = ['author', 'admin']
const ADMINS: readonly Role[] = ['admin']

/** `may`: the roles for which `buttons` work. */
const PAGES: readonly Readonly<{
  path: string
  title: RegExp
  buttons: readonly string[]
  may: readonly Role[]
  /** They are off for these roles too, until something is chosen or changed. */
  isIdle?: true
  /** For the other roles, in place of the content. */
  closed?: RegExp
}>[] = [
  { path: '', title: /^Overview$/, buttons: [], may: [] },
  { path: 'endpoints', title: /^Endpoints$/, buttons: ['New endpoint …', 'Import …'], may: AUTHORS },
  {
    path: 'endpoints/:id/tests',
    title: /^Tests of Orders$/,
    buttons: ['Run all', 'New test …', 'Run first', 'Delete first'],
    may: AUTHORS,
  },
  {
    path: 'endpoints/:id/versions',
    title: /^Versions of Orders$/,
    buttons: ['Restore version 1'],
    may: AUTHORS,
  },
  { path: 'endpoints/:id/stats', title: /^Statistics of Orders$/, buttons: [], may: [] },
  { path: 'endpoints/:id/edit', title: /Orders/, buttons: ['Publish …'], may: AUTHORS, isIdle: true },
  { path: 'endpoints/:id/form', title: /Orders/, buttons: ['Publish …'], may: AUTHORS, isIdle: true },
  { path: 'audit', title: /^Audit log$/, buttons: [], may: ADMINS, closed: /The audit log is for admins/ },
  { path: 'settings', title: /^Settings$/, buttons: [], may: ADMINS, closed: /The settings are for admins/ },
  { path: 'keys', title: /^API keys$/, buttons: ['New key …'], may: ADMINS, closed: /API keys are for admins/ },
]

describe('each role', { skip: NO_BROWSER }, () => {
  let withKeys: ServiceWithKeys
  let id: string
  before(async () => {
    withKeys = await startServiceWithKeys()
    const { service, keys } = withKeys
    const call = (method: string, path: string, body: object) =>
      service.fetch(path, {
        ...json(method, body as never),
        headers: { 'content-type': 'application/json', ...bearer(keys.author) },
      })
    const document = {
      name: 'Orders',
      endpoint: { pattern: '/orders' },
      transformation: { input: 'JSON', output: 'JSON' },
    }
    id = (await call('POST', '/endpoints', document)).json<{ _id: string }>()._id
    await call('PATCH', `/endpoints/${id}`, { description: 'changed' })
    await call('PUT', `/endpoints/${id}/tests`, { tests: [{ name: 'first', expect: { outcome: 'done' } }] })
  })
  after(() => withKeys.service.stop())

  for (const role of ['viewer', 'author'] as const) {
    test(`as ${role} sees what it may do on each page, and why not the rest`, async (test) => {
      const { service, keys } = withKeys
      const origin = `http://127.0.0.1:${service.app.adminPort}`
      const { page, misdeeds, close } = await openPage(origin)
      test.after(close)
      await page.goto('/console/')
      await signIn(page, keys[role])
      for (const { path, title, buttons, may, isIdle, closed } of PAGES) {
        await goTo(page, `/console/${path.replace(':id', id)}`)
        await page.getByRole('heading', { level: 1, name: title }).waitFor()
        await loaded(page)
        const isAllowed = may.includes(role)
        if (closed !== undefined) assert.equal(await page.getByText(closed).isVisible(), !isAllowed, `${role} ${path}`)
        for (const name of buttons) {
          const button = page.getByRole('button', { name, exact: true })
          await button.waitFor()
          if (isAllowed && isIdle) continue
          assert.equal((await button.getAttribute('aria-disabled')) === 'true', !isAllowed, `${role} ${path} ${name}`)
          if (isAllowed) continue
          const reason = await page.locator(`[id="${await button.getAttribute('aria-describedby')}"]`).textContent()
          assert.match(reason ?? '', new RegExp(`needs the role ${may[0]}. Your role is ${role}`))
        }
      }
      const links = await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allTextContents()
      assert.equal(links.includes('API keys'), false)
      assert.deepEqual(misdeeds, [])
    })
  }
})

/** Within the page, so that the key stays in memory. */
async function goTo(page: Page, path: string): Promise<void> {
  await page.evaluate(
    `history.pushState({}, '', ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent('popstate'))`,
  )
}

describe('keys', { skip: NO_BROWSER }, () => {
  test('begin with the first one, which the page then asks for; signing out leaves nothing', async (test) => {
    const { service, page, open, checkAccessibility } = await openConsole(test)
    await service.register({ name: 'Orders', endpoint: { pattern: '/orders' } })
    await open('keys')
    await page.getByText('There are no keys').waitFor()
    await page.getByRole('button', { name: 'Make the first key …' }).click()
    await page.getByLabel('Name').fill('Ann')
    await checkAccessibility()
    await page.getByRole('button', { name: 'Make key' }).click()
    const shown = page.getByRole('group', { name: 'The key' })
    const key = (await shown.textContent()) ?? ''
    assert.match(key, /^cwk_[0-9a-f]{16}_[\w-]{43}$/)
    await checkAccessibility()
    await page.getByRole('button', { name: 'Copy' }).click()
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), key)
    await page.getByRole('button', { name: 'I have copied it' }).click()
    await page.getByLabel('API key or access token').fill(key)
    await page.getByLabel('Keep it until this tab is closed').check()
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('(yours)').waitFor()
    assert.match((await page.evaluate('JSON.stringify({ ...sessionStorage })')) as string, new RegExp(key))
    assert.doesNotMatch((await page.evaluate('document.body.innerText')) as string, new RegExp(key))
    await page.getByRole('button', { name: 'Account' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByLabel('API key or access token').waitFor()
    assert.equal(
      await page.evaluate('JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie])'),
      '[{},{},""]',
    )
  })

  test('are made with roles, and revoked', async (test) => {
    const { service, page, open, checkAccessibility } = await openConsole(test, { role: 'admin' })
    await open('keys')
    await page.getByRole('button', { name: 'New key …' }).click()
    await page.getByLabel('Name').fill('deploy job')
    await page.getByRole('checkbox', { name: /^viewer/ }).uncheck()
    assert.equal(await page.getByRole('button', { name: 'Make key' }).getAttribute('aria-disabled'), 'true')
    await page.getByRole('checkbox', { name: /^author/ }).check()
    await page.getByLabel('Expires').selectOption('30')
    await page.getByRole('button', { name: 'Make key' }).click()
    const key = (await page.getByRole('group', { name: 'The key' }).textContent()) ?? ''
    await page.getByRole('button', { name: 'I have copied it' }).click()
    const row = page.getByRole('row', { name: /deploy job/ })
    assert.match(await row.innerText(), /author[\s\S]*works until/)
    await checkAccessibility()
    const status = async () => (await fetch(`${service.adminUrl}/endpoints`, { headers: bearer(key) })).status
    assert.equal(await status(), 200)
    await page.getByRole('button', { name: 'Revoke deploy job' }).click()
    await checkAccessibility()
    await page.getByRole('button', { name: 'Revoke key' }).click()
    await row.getByText('revoked').waitFor()
    assert.equal(await status(), 401)
  })
})

describe('the audit log', { skip: NO_BROWSER }, () => {
  test('is found by who and what, at a URL, and leads to the versions that a change made', async (test) => {
    const { service, page, open, checkAccessibility } = await openConsole(test)
    const { _id } = await service.register({ name: 'Orders', endpoint: { pattern: '/orders' } })
    await service.fetch(`/endpoints/${_id}`, json('PATCH', { description: 'changed' }))
    await open('audit')
    const changed = page.getByRole('row', { name: /Somebody on this machine published version 2 of Orders/ })
    await changed.waitFor()
    await changed.getByText('Details').click()
    await changed.getByRole('link', { name: 'PATCH /endpoints/{id}' }).waitFor()
    await checkAccessibility()
    await page.getByLabel('What or target').fill('POST /endpoints')
    await page.waitForURL(/what=POST/)
    await changed.waitFor({ state: 'detached' })
    await page.reload()
    await page.getByText('1 in all').waitFor()
    assert.equal(await page.getByLabel('What or target').inputValue(), 'POST /endpoints')
    await page.getByLabel('From').fill('2099-01-01T00:00')
    await page.getByText('No entry matches').waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await changed.getByRole('link', { name: /published version 2/ }).click()
    await page.waitForURL(new RegExp(`/endpoints/${_id}/versions\\?from=1&to=2`))
    await page.getByRole('heading', { name: 'What differs from version 1 to version 2' }).waitFor()
  })
})
