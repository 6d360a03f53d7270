/** What other people and systems wrote is shown as text, wherever the console shows it, and does nothing else. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { startService, startUpstream } from '../../../support/service.ts'
import { until } from '../../../support/until.ts'
import { loaded, NO_BROWSER, signIn, startBrowser } from '../browser.ts'
import { openConsole } from '../console-page.ts'
import { type Group, type Planted, plant, TITLE, texts } from './hostile-data.ts'
import { isOneLine, PAYLOADS, type Payload, shownJson } from './hostile-payloads.ts'

type Place = Readonly<{
  name: string
  path: string
  /** What is done on the page before it is read. */
  prepare?(page: Page): Promise<void>
  /** How the text of the page is read, if not at once. */
  read?(page: Page): Promise<string>
  /** How a payload is written there; undefined if it does not come up. */
  expect(payload: Payload): string | undefined
}>

const asShown = ({ shown }: Payload): string => shown
/** In tables longer texts are cut. */
const atMost =
  (most: number) =>
  ({ shown }: Payload): string =>
    shown.slice(0, most)
/** Of one endpoint only. */
const onlyOf =
  (group: Group | undefined) =>
  ({ text, shown }: Payload): string | undefined =>
    text === group?.endpoint ? shown : undefined

const placesOf = ({ id, message, open, marked, plan }: Planted): readonly Place[] => [
  { name: 'names and labels of endpoints', path: 'endpoints', expect: asShown },
  { name: 'endpoints and sentences of messages', path: 'messages', expect: atMost(120) },
  { name: 'keys of messages', path: 'messages', expect: ({ shown }) => `of:${shown.slice(0, 60)}` },
  {
    name: 'a body',
    path: `messages/${message}?body=incoming`,
    expect: (one) => `"${shownJson(one)}": "${shownJson(one)}"`,
  },
  { name: 'headers and query', path: `messages/${message}?body=request`, expect: (one) => `"${shownJson(one)}"` },
  {
    name: 'the answer of another system',
    path: `messages/${message}?body=response.upstream`,
    expect: (one) => `"${shownJson(one)}"`,
  },
  { name: 'groups and their notes', path: 'groups?state=all', expect: asShown },
  { name: 'a group', path: `groups/${marked?.key}`, expect: onlyOf(marked) },
  { name: 'filters of plans', path: 'replays', expect: asShown },
  { name: 'endpoints of a plan', path: `replays/${plan}`, expect: asShown },
  { name: 'notes of versions', path: `endpoints/${id}/versions`, expect: asShown },
  {
    name: 'names of tests, and what they expect',
    path: `endpoints/${id}/tests`,
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Run all' }).click()
      await page.getByText(`0 passed, ${PAYLOADS.length} failed`).waitFor()
    },
    expect: (one) => `"${shownJson(one)}"`,
  },
  {
    name: 'the document in the editor',
    path: `endpoints/${id}/edit?message=${message}`,
    expect: (one) => `"${shownJson(one)}"`,
  },
  {
    name: 'stages of a dry run',
    path: `endpoints/${id}/edit?message=${message}`,
    prepare: async (page) => {
      const stage = page.getByRole('button', { name: /^.?parse/ })
      await stage.waitFor()
      if ((await stage.getAttribute('aria-expanded')) !== 'true') await stage.click()
    },
    expect: (one) => `"${shownJson(one)}"`,
  },
  {
    name: 'fields of a message in the mapping',
    path: `endpoints/${id}/mapping?message=${message}`,
    prepare: async (page) => {
      await page.getByRole('treegrid').first().waitFor()
    },
    read: readWhileScrolling,
    expect: atMost(120),
  },
  { name: 'statistics', path: `endpoints/${id}/stats`, expect: () => `Statistics of ${TITLE.shown}` },
  {
    name: 'the palette',
    path: `endpoints/${id}/stats`,
    prepare: async (page) => {
      await page.keyboard.press('Control+k')
      await page.keyboard.insertText('Target')
      await page.getByRole('option', { name: 'Target' }).waitFor()
    },
    expect: () => `${TITLE.shown}POST /target`,
  },
  { name: 'the overview', path: '', expect: onlyOf(open) },
  {
    name: 'the audit log',
    path: 'audit',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Show more' }).click()
      // Entries that were written meanwhile are counted apart until the reader asks for them.
      const fresh = page.getByRole('button', { name: /new: show$/ })
      const isWhole = async () => {
        if (await fresh.isVisible()) await fresh.click()
        return page.getByText('200 shown').or(page.getByText(' in all')).isVisible()
      }
      await until(isWhole, (whole) => whole)
    },
    expect: asShown,
  },
  {
    name: 'names of API keys',
    path: 'keys',
    expect: (one) => (isOneLine(one) ? one.shown.trim().slice(0, 100) : undefined),
  },
]

/** All text of the page, and of its fields. */
const textOf = (page: Page): Promise<string> =>
  page.evaluate(
    '[document.body.textContent, ...[...document.querySelectorAll("input, textarea")].map((one) => one.value)].join("\\n")',
  )

/** Only rows that can be seen are elements of the page. */
async function readWhileScrolling(page: Page): Promise<string> {
  const rows: string[] = []
  // As many rows as there are payloads, with room to spare.
  for (let top = 0; top < 60 * PAYLOADS.length; top += 400) {
    await page.evaluate(`document.querySelector('[role=treegrid]').scrollTo(0, ${top})`)
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
    rows.push(await textOf(page))
  }
  return rows.join('\n')
}

/** Elements that no page of the console has within its content, links that run, and what was written to every object. */
const TRACES = `[
  ...[...document.querySelectorAll('main :is(img:not(.cm-widgetBuffer), iframe, script, style, base, meta, link, object, embed)')].map((one) => one.outerHTML),
  ...[...document.querySelectorAll('[href], [action], [src]')].filter((one) => /^\\s*(javascript:|data:|(https?:)?\\/\\/evil)/i.test(
    one.getAttribute('href') ?? one.getAttribute('action') ?? one.getAttribute('src'))).map((one) => one.outerHTML),
  ...Object.keys(Object.getPrototypeOf({})),
]`

describe('texts that attack the page', { skip: NO_BROWSER }, () => {
  test('are shown as they were sent, on every page, and do nothing', async (test) => {
    const upstream = await startUpstream(() => Object.fromEntries(texts.map((text, index) => [`of-${index}`, text])))
    test.after(upstream.stop)
    const { service, page } = await openConsole(test, {
      env: { MESSAGE_LOG: 'all', MESSAGE_LOG_BODY_LIMIT: '1mb' },
      width: 1440,
      height: 4_000,
    })
    const planted = await plant(service, upstream.url)
    await page.goto('/console/')
    await page.getByLabel('Keep it until this tab is closed').check()
    await signIn(page, planted.key)
    const missing: string[] = []
    let at = ''
    for (const { name, path, prepare, read = textOf, expect } of placesOf(planted)) {
      if (path !== at) await page.goto(`/console/${path}`)
      at = path
      await loaded(page)
      await prepare?.(page)
      const wanted = PAYLOADS.map(expect).filter((one) => one !== undefined)
      const lacking = async () => {
        const text = await read(page)
        return wanted.filter((one) => !text.includes(one))
      }
      let left = await lacking()
      for (const deadline = Date.now() + 3_000; left.length > 0 && Date.now() < deadline; ) left = await lacking()
      missing.push(...left.map((one) => `${name}: ${one}`))
      missing.push(...((await page.evaluate(TRACES)) as string[]).map((one) => `${name} has ${one}`))
    }
    assert.deepEqual(missing, [])
  })

  test('do nothing in the answer to a message, at the origin where endpoints may be changed', async (test) => {
    const script = '<script>document.title = "ran"; fetch("/endpoints", { method: "DELETE" })</script>'
    const bodies: Readonly<Record<string, readonly [type: string, body: string]>> = {
      '/xml': ['application/xml', `<html xmlns="http://www.w3.org/1999/xhtml"><head>${script}</head></html>`],
      // No UTF-8, so these are passed on as they are.
      '/html': ['text/html', `${script}\xff`],
      '/svg': ['image/svg+xml', `<svg xmlns="http://www.w3.org/2000/svg">${script}<!--\xff--></svg>`],
    }
    const upstream = await startUpstream(({ url }, response) => {
      const [type = '', body = ''] = bodies[url] ?? []
      response
        .writeHead(200, { 'content-type': type, ...(url === '/html' && { refresh: '0;url=/xml' }) })
        .end(Buffer.from(body, 'latin1'))
      return undefined
    })
    test.after(upstream.stop)
    const service = await startService()
    test.after(service.stop)
    const context = await (await startBrowser()).newContext()
    test.after(() => context.close())
    for (const pattern of Object.keys(bodies)) {
      await service.register({
        endpoint: { pattern, method: 'GET' },
        transformation: { output: 'XML' },
        requests: { response: [{ id: 'page', config: { method: 'GET', url: `${upstream.url}${pattern}` } }] },
      })
      const page = await context.newPage()
      const asked: string[] = []
      page.on('request', (request) => asked.push(`${request.method()} ${new URL(request.url()).pathname}`))
      const reply = await page.goto(`${service.url}${pattern}`)
      assert.match((await reply?.text()) ?? '', /<script>/)
      // In the sandbox the page has an origin of its own, and no script of it has run.
      assert.notEqual(await page.title(), 'ran', pattern)
      assert.equal(await page.evaluate('self.origin'), 'null', pattern)
      assert.deepEqual(asked, [`GET ${pattern}`])
    }
  })
})
