/** The frame of the console: signing in and out, the palette, the keys, and what happens when the service is away. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { startServiceWithKeys } from '../../../support/api/access/service-with-keys.ts'
import { until } from '../../../support/until.ts'
import { loaded, NO_BROWSER, signIn } from '../browser.ts'
import { openConsole } from '../console-page.ts'

/** Everything that the page left in this browser. */
const stored = (page: Page): Promise<readonly string[]> =>
  page.evaluate('[...Object.keys(sessionStorage), ...Object.keys(localStorage), document.cookie].filter(Boolean)')

describe('signing in', { skip: NO_BROWSER }, () => {
  test('takes a good key only, and keeps it in memory where the user wants that', async (test) => {
    const { service, keys } = await startServiceWithKeys()
    test.after(() => service.stop())
    const { page, checkAccessibility } = await openConsole(test, { of: service })
    await page.goto('/console/endpoints?q=lab')
    await page.getByText('Sign in with your API key').waitFor()
    await page.getByText('ask an administrator').waitFor()
    await checkAccessibility()
    const said = async () => (await page.getByRole('main').innerText()).replaceAll(/\s+/g, ' ')
    assert.doesNotMatch(await said(), /header|Bearer|call/i)
    for (const mistyped of [`Bearer ${keys.viewer}`, 'schlüssel', '17 €']) {
      await page.getByLabel('API key or access token').fill(mistyped)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('alert').getByText('This is not an API key').waitFor()
      assert.doesNotMatch(await said(), /header|Bearer|call/i)
      await page.getByLabel('API key or access token').fill('')
      await page.getByRole('alert').getByText('This is not an API key').waitFor({ state: 'detached' })
    }
    await page.getByLabel('API key or access token').fill(keys.revoked)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').getByText('CREDENTIALS_REFUSED').waitFor()
    await checkAccessibility()
    await page.getByLabel('Keep it until this tab is closed').uncheck()
    await signIn(page, keys.viewer)
    // The page that was asked for.
    await page.waitForURL(/endpoints\?q=lab/)
    await page.getByText('No endpoint matches').waitFor()
    assert.deepEqual(await stored(page), [])
    await page.reload()
    await page.getByLabel('API key or access token').waitFor()
  })

  test('is kept in the tab unless the user says otherwise, until signing out', async (test) => {
    const { service, keys } = await startServiceWithKeys()
    test.after(() => service.stop())
    const { page } = await openConsole(test, { of: service })
    await page.goto('/console/endpoints')
    await signIn(page, keys.viewer)
    await page.reload()
    await loaded(page)
    await page.keyboard.press('?')
    await page.getByLabel('Single keys, such as j and k').uncheck()
    await page.keyboard.press('Escape')
    assert.deepEqual(await stored(page), ['crosswalk-key', 'crosswalk-single-keys'])
    await page.getByRole('button', { name: 'Account:' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByLabel('API key or access token').waitFor()
    assert.deepEqual(await stored(page), [])
    await page.goBack()
    await page.getByLabel('API key or access token').waitFor()
  })

  test('is asked for again over the page when the key is revoked', async (test) => {
    const { service, keys } = await startServiceWithKeys()
    test.after(() => service.stop())
    const { page, checkAccessibility } = await openConsole(test, { of: service })
    await page.goto('/console/endpoints')
    await signIn(page, keys.viewer)
    const search = page.locator('input[type="search"]')
    await search.fill('typed before')
    const admin = { authorization: `Bearer ${keys.admin}`, 'content-type': 'application/json' }
    const listed = await fetch(`${service.adminUrl}/keys`, { headers: admin })
    const { keys: all } = (await listed.json()) as { keys: { id: string; roles: string[] }[] }
    const own = all.find(({ roles }) => roles.includes('viewer'))
    await fetch(`${service.adminUrl}/keys/${own?.id}`, { method: 'DELETE', headers: admin })
    // The field has the focus, unless live updates were refused already: the keys then go to the dialog.
    await page.keyboard.type(' after')
    const dialog = page.getByRole('dialog', { name: 'Sign in again' })
    await dialog.waitFor()
    const typed = await search.inputValue()
    assert.match(typed, /^typed before/)
    await checkAccessibility()
    await dialog.getByLabel('API key or access token').fill(keys.author)
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    await dialog.waitFor({ state: 'detached' })
    assert.equal(await search.inputValue(), typed)
  })
})

describe('the colours', { skip: NO_BROWSER }, () => {
  test('are those of the system, or the ones that the user chose for this browser', async (test) => {
    const { page, open, checkAccessibility } = await openConsole(test, { width: 360, colorScheme: 'dark' })
    const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
    const [light, dark] = ['rgb(245, 246, 248)', 'rgb(18, 23, 27)']
    await open('')
    assert.equal(await ground(), dark)
    const choose = async (name: string) => {
      await page.getByRole('button', { name: 'Account:' }).press('Enter')
      await page.getByRole('menuitemradio', { name }).press('Enter')
      await page.getByRole('menu').waitFor({ state: 'detached' })
    }
    await choose('Light')
    assert.equal(await ground(), light)
    await checkAccessibility()
    await page.reload()
    await loaded(page)
    assert.equal(await ground(), light)
    await page.getByRole('button', { name: 'Account:' }).press('Enter')
    assert.equal(await page.getByRole('menuitemradio', { checked: true }).innerText(), 'Light\n✓')
    await checkAccessibility()
    await page.keyboard.press('Escape')
    await choose('As the system')
    assert.equal(await ground(), dark)
    await page.emulateMedia({ colorScheme: 'light' })
    await until(ground, (colour) => colour === light)
    assert.deepEqual(await stored(page), [])
  })
})

describe('the palette', { skip: NO_BROWSER }, () => {
  test('goes to pages and endpoints by the keyboard', async (test) => {
    const { service, page, open, checkAccessibility } = await openConsole(test)
    const { _id } = await service.register({ name: 'Lab orders', endpoint: { pattern: '/lab' } })
    await service.register({ name: 'Admissions', endpoint: { pattern: '/adt' } })
    await open('endpoints?q=nothing')
    await page.keyboard.press('Control+k')
    await page.getByRole('option', { name: 'Admissions' }).waitFor()
    await checkAccessibility()
    await page.keyboard.type('lab')
    await page.getByRole('option', { name: 'Admissions' }).waitFor({ state: 'detached' })
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL(new RegExp(`endpoints/${_id}/edit`))
  })
})

describe('single keys', { skip: NO_BROWSER }, () => {
  test('go through rows, can be listed, and be switched off', async (test) => {
    const { service, page, open, checkAccessibility } = await openConsole(test)
    for (const name of ['A', 'B', 'C']) await service.register({ name, endpoint: { pattern: `/${name}` } })
    await open('endpoints')
    const focused = () => page.evaluate('document.activeElement.textContent')
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    assert.equal(await focused(), 'B')
    await page.keyboard.press('k')
    assert.equal(await focused(), 'A')
    await page.keyboard.press('?')
    const dialog = page.getByRole('dialog', { name: 'Keys' })
    await dialog.getByText('Next row').waitFor()
    await checkAccessibility()
    await dialog.getByLabel('Single keys, such as j and k').uncheck()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await until(focused, (text) => text === 'A')
    await page.keyboard.press('j')
    assert.equal(await focused(), 'A')
    // Keys with Ctrl still work.
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog', { name: 'Go to' }).waitFor()
  })

  test('are letters in a field', async (test) => {
    const { page, open } = await openConsole(test)
    await open('endpoints')
    await page.keyboard.press('/')
    await page.keyboard.type('j?k/')
    assert.equal(await page.getByRole('searchbox', { name: 'Search' }).inputValue(), 'j?k/')
  })
})

describe('a tab that is hidden', { skip: NO_BROWSER }, () => {
  test('holds no stream after a moment, and reads everything again when it is looked at', async (test) => {
    const { service, page, open } = await openConsole(test)
    await service.register({ name: 'Before', endpoint: { pattern: '/before' } })
    await page.clock.install()
    const show = (isShown: boolean) =>
      page.evaluate(
        `Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${!isShown} });
        document.dispatchEvent(new Event('visibilitychange'))`,
      )
    await open('endpoints')
    await page.getByText('· live').waitFor()
    await show(false)
    await page.clock.fastForward('00:10')
    await service.register({ name: 'Almost', endpoint: { pattern: '/almost' } })
    await page.getByRole('button', { name: '1 new: show' }).waitFor()
    await page.clock.fastForward('00:21')
    await page.getByText('· paused').waitFor()
    await service.register({ name: 'After', endpoint: { pattern: '/after' } })
    await show(true)
    await page.getByText('· live').waitFor()
    await page.getByRole('button', { name: '2 new: show' }).click()
    await page.getByRole('link', { name: 'After' }).waitFor()
  })
})
