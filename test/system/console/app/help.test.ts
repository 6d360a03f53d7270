/** Help in place: each page leads to its section of the guide and to its words, which the service has itself. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { BUILT, filesOf } from '../../../../scripts/console/console-build.ts'
import { startService } from '../../../support/service.ts'
import { NO_BROWSER } from '../browser.ts'
import { openConsole } from '../console-page.ts'

/** By their paths. */
const PAGES = [
  ['', 'Overview'],
  ['endpoints', 'Endpoints'],
  ['endpoints/new', 'New endpoint'],
  ['endpoints/by-example', 'By example'],
  ['messages', 'Messages'],
  ['groups', 'Failures'],
  ['replays', 'Replays'],
  ['deliveries', 'Deliveries'],
  ['tables', 'Tables'],
  ['unmapped', 'Unmapped codes'],
  ['audit', 'Audit log'],
  ['keys', 'API keys'],
] as const

describe('the guide', () => {
  test('is served without scripts, and its links lead to what is there', async (test) => {
    const service = await startService()
    test.after(() => service.stop())
    const pages = new Map<string, string>()
    for (const file of filesOf(`${BUILT}/docs`).filter((one) => one.endsWith('.html'))) {
      const path = `/console/docs/${file.slice(0, -'.html'.length)}`
      const answer = await fetch(service.adminUrl + path)
      assert.equal(answer.status, 200, path)
      assert.match(answer.headers.get('content-security-policy') ?? '', /^default-src 'none'/)
      pages.set(path, await answer.text())
    }
    assert.ok(pages.size > 40)
    const home = await fetch(`${service.adminUrl}/console/docs/`)
    pages.set('/console/docs/', await home.text())
    const dead = [...pages].flatMap(([path, html]) => {
      assert.doesNotMatch(html, /<script|<img|\son\w+=|javascript:/i, path)
      return Array.from(html.matchAll(/ href="([^"]*)"/g), ([, href = '']) => href)
        .filter((href) => href.startsWith('#') || href.startsWith('/console/docs/'))
        .filter((href) => !href.endsWith('.css'))
        .filter((href) => {
          const [to = '', anchor] = href.split('#')
          const target = pages.get(to === '' ? path : to)
          return target === undefined || (anchor !== undefined && !target.includes(` id="${anchor}"`))
        })
        .map((href) => `${path}: ${href}`)
    })
    assert.deepEqual(dead, [])
    for (const path of ['nothing', '..%2findex.html', 'README.html.br', 'decisions']) {
      assert.equal((await fetch(`${service.adminUrl}/console/docs/${path}`)).status, 404, path)
    }
  })

  for (const [width, colorScheme] of [
    [1280, 'light'],
    [360, 'dark'],
  ] as const) {
    test(`is read at ${width} pixels (${colorScheme})`, { skip: NO_BROWSER }, async (test) => {
      const { page, checkAccessibility } = await openConsole(test, { width, colorScheme })
      for (const name of ['', 'glossary', 'console', 'security#roles']) {
        await page.goto(`/console/docs/${name}`)
        await page.getByRole('heading', { level: 1 }).waitFor()
        await checkAccessibility()
        const isWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth')
        assert.equal(isWide, false, name)
      }
    })
  }
})

describe('help', { skip: NO_BROWSER }, () => {
  test('explains the words of each page, and leads to its section of the guide', async (test) => {
    const { page, origin, open, checkAccessibility } = await openConsole(test)
    for (const [to, title] of PAGES) {
      await open(to)
      await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor()
      await page.getByRole('button', { name: 'Help with this page' }).click()
      const help = page.getByRole('dialog', { name: 'Help with this page' })
      await help.getByRole('definition').first().waitFor()
      const href = await help.getByRole('link', { name: 'This page in the guide' }).getAttribute('href')
      const [path, anchor] = (href ?? '').split('#')
      const html = await (await fetch(origin + path)).text()
      assert.ok(anchor !== undefined && html.includes(` id="${anchor}"`), `${to} ${href}`)
      await page.keyboard.press('Escape')
      await help.waitFor({ state: 'detached' })
    }
    await page.getByRole('button', { name: 'Help with this page' }).press('Enter')
    await checkAccessibility()
  })

  test('is among the keys, by the keyboard alone', async (test) => {
    const { page, open } = await openConsole(test, { width: 360 })
    await open('replays')
    await page.keyboard.press('?')
    const link = page.getByRole('dialog', { name: 'Keys' }).getByRole('link', { name: 'Glossary' })
    const opened = page.waitForEvent('popup')
    await link.press('Enter')
    const guide = await opened
    await guide.getByRole('heading', { level: 1, name: 'Glossary' }).waitFor()
    await guide.getByRole('cell', { name: 'replay', exact: true }).waitFor()
    assert.equal(guide.url().endsWith('/console/docs/glossary'), true)
  })
})
