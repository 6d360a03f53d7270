/** Signing in at an OpenID Connect provider, a real one, and what happens where its answer is not the one that was asked for. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import {
  CLIENT_ID,
  type OpenIdProviderOptions,
  startOpenIdProvider,
} from '../../../support/api/access/openid-provider.ts'
import { startService } from '../../../support/service.ts'
import { nowhere } from '../../../support/services/free-ports.ts'
import { loaded, NO_BROWSER } from '../browser.ts'
import { openConsole } from '../console-page.ts'

const SIGN_IN = { name: /^Sign in at 127\.0\.0\.1/ }

async function openWithProvider(test: TestContext, options: OpenIdProviderOptions = {}) {
  const provider = await startOpenIdProvider(options)
  test.after(() => provider.stop())
  const service = await startService(provider.env)
  test.after(() => service.stop())
  const console = await openConsole(test, { of: service, expected: new RegExp(`request elsewhere: ${provider.url}/`) })
  provider.serve(console.origin)
  return { ...console, provider }
}

/** From the page that asks for it, to the page that was asked for. */
async function signInAs(page: Page, name: string): Promise<void> {
  await page.getByRole('button', SIGN_IN).click()
  await page.locator('input[name="login"]').fill(name)
  await page.locator('input[name="password"]').fill('any')
  await page.getByRole('button', { name: 'Sign-in' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
}

/** Everything that the page left in this browser. */
const stored = (page: Page): Promise<readonly string[]> =>
  page.evaluate(
    '[...Object.keys(sessionStorage), ...Object.keys(localStorage), document.cookie].filter(Boolean).sort()',
  )

describe('signing in at the provider', { skip: NO_BROWSER }, () => {
  test('leads back to the page that was asked for, lasts for the tab, and ends with signing out', async (test) => {
    const { page, origin, provider, checkAccessibility } = await openWithProvider(test)
    assert.deepEqual(await (await fetch(`${origin}/sign-in`)).json(), {
      oidc: {
        clientId: CLIENT_ID,
        scope: 'openid offline_access',
        provider: {
          issuer: provider.url,
          authorization_endpoint: `${provider.url}/auth`,
          token_endpoint: `${provider.url}/token`,
          authorization_response_iss_parameter_supported: true,
        },
      },
    })
    const answer = await page.goto('/console/endpoints?q=lab')
    const policy = answer?.headers()['content-security-policy'] ?? ''
    assert.match(policy, new RegExp(`connect-src 'self' ${provider.url};`))
    await page.getByRole('button', SIGN_IN).waitFor()
    await checkAccessibility()
    await signInAs(page, 'author')
    await page.getByRole('button', { name: /^Account: author/ }).waitFor()
    assert.equal(page.url(), `${origin}/console/endpoints?q=lab`)
    assert.deepEqual(await stored(page), ['crosswalk-key', 'crosswalk-renewal'])
    await page.reload()
    await loaded(page)
    assert.equal(await page.getByRole('button', { name: 'New endpoint …' }).getAttribute('aria-disabled'), null)
    await page.getByRole('button', { name: 'Account:' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('button', SIGN_IN).waitFor()
    assert.deepEqual(await stored(page), [])
  })

  test('works by keyboard, keeps nothing where the user wants that, and renews a token before it expires', async (test) => {
    const { page, open, provider } = await openWithProvider(test, { tokenSeconds: 20 })
    await page.goto('/console/')
    await page.getByLabel('Keep it until this tab is closed').press('Space')
    await page.getByRole('button', SIGN_IN).press('Enter')
    await page.locator('input[name="login"]').waitFor()
    // The field has the focus.
    for (const keys of ['viewer', 'any']) {
      await page.keyboard.type(keys)
      await page.keyboard.press('Tab')
    }
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Continue' }).press('Enter')
    await page.getByRole('button', { name: /^Account: viewer/ }).waitFor()
    assert.deepEqual(await stored(page), [])
    // Each call of the page finds a token that expires within half a minute.
    const before = provider.renewals
    assert.ok(before > 0)
    await page.getByRole('link', { name: 'Endpoints', exact: true }).press('Enter')
    await loaded(page)
    await page.getByRole('heading', { level: 1, name: 'Endpoints' }).waitFor()
    assert.ok(provider.renewals > before)
    await open('')
    await page.getByRole('button', SIGN_IN).waitFor()
  })

  const REFUSED: readonly Readonly<{
    what: string
    /** What the page says. */
    says: RegExp
    options?: OpenIdProviderOptions
    /** Leads to a page that asks to sign in. */
    run(page: Page, provider: Readonly<{ url: string }>): Promise<void>
  }>[] = [
    {
      what: 'the user changes their mind',
      says: /refused the sign-in: access_denied/,
      run: async (page) => {
        await page.getByRole('button', SIGN_IN).click()
        await page.getByRole('link', { name: 'Cancel' }).click()
      },
    },
    {
      what: 'the user has no role',
      says: /needs the role viewer; the roles of the caller: none/,
      run: (page) => signInAs(page, 'nobody'),
    },
    {
      what: 'the token is for another service',
      says: /for another service: its audience/,
      options: { audience: 'urn:other' },
      run: (page) => signInAs(page, 'admin'),
    },
    {
      what: 'this tab asked for nothing',
      says: /did not begin the sign-in/,
      run: async (page, { url }) => void (await page.goto(`/console/?code=a&state=b&iss=${url}`)),
    },
    {
      what: 'the state is another one',
      says: /belongs to another sign-in/,
      run: (page, { url }) => answerWith(page, () => `code=a&state=wrong&iss=${url}`),
    },
    {
      what: 'another issuer answers',
      says: /is not from http:\/\/127/,
      run: (page) => answerWith(page, (state) => `code=a&state=${state}&iss=https://evil.example`),
    },
    {
      what: 'the issuer is not named, though it always is',
      says: /is not from http:\/\/127/,
      run: (page) => answerWith(page, (state) => `code=a&state=${state}`),
    },
    {
      what: 'the code was used before',
      says: /refused the sign-in: invalid_grant/,
      run: async (page, { url }) => {
        const answered = page.waitForRequest(/console\/\?code=/)
        await signInAs(page, 'admin')
        const code = new URL((await answered).url()).searchParams.get('code')
        await page.getByRole('button', { name: 'Account:' }).click()
        await page.getByRole('menuitem', { name: 'Sign out' }).click()
        await page.context().clearCookies()
        await answerWith(page, (state) => `code=${code}&state=${state}&iss=${url}`)
      },
    },
  ]
  for (const { what, says, options = {}, run } of REFUSED) {
    test(`is refused with a sentence if ${what}`, async (test) => {
      const { page, provider, checkAccessibility } = await openWithProvider(test, options)
      await page.goto('/console/')
      await run(page, provider)
      await page.getByText(says).waitFor()
      await page.getByRole('button', SIGN_IN).waitFor()
      assert.doesNotMatch(page.url(), /code=|state=|error=/)
      await checkAccessibility()
    })
  }

  test('says that the provider is away, and tries again', async (test) => {
    const provider = await startOpenIdProvider()
    test.after(() => provider.stop())
    const service = await startService({ ...provider.env, MANAGEMENT_OIDC_ISSUER: await nowhere() })
    test.after(() => service.stop())
    const { page, checkAccessibility } = await openConsole(test, { of: service })
    await page.goto('/console/')
    await page.getByText(/does not report its configuration; try again/).waitFor()
    await page.getByRole('button', { name: 'Retry' }).waitFor()
    await checkAccessibility()
  })
})

/** Begins to sign in, and comes back with an answer that the provider never gave. */
async function answerWith(page: Page, query: (state: string) => string): Promise<void> {
  const asked = page.waitForRequest(/[?&]state=/)
  await page.getByRole('button', SIGN_IN).click()
  const state = new URL((await asked).url()).searchParams.get('state')
  await page.locator('input[name="login"]').waitFor()
  await page.goto(`/console/?${query(state ?? '')}`)
}
