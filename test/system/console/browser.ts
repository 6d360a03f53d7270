/** One Chromium for a process of tests, and a context of its own for each test. */
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { updateConsole } from '../../../scripts/console/console-build.ts'
import { atProcessEnd } from '../../support/process-end.ts'
import { chromiumMissing, findChromium } from '../../support/services/chromium.ts'
import { until } from '../../support/until.ts'

/** For `skip` of a suite: why there is no browser; false where there is one. Throws where the tests must not go without. */
export const NO_BROWSER: string | false = chromiumMissing() ?? false

const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-dev-shm-usage']

let starting: Promise<Browser> | undefined

/** Ends it, if it was started. */
export async function closeBrowser(): Promise<void> {
  await (await starting)?.close()
  starting = undefined
}

atProcessEnd(closeBrowser)

/** The browser of this process. The console is built first if its sources have changed. */
export function startBrowser(): Promise<Browser> {
  starting ??= (async () => {
    await updateConsole()
    const path = findChromium()
    return chromium.launch({ headless: true, args: ARGS, ...(path !== undefined && { executablePath: path }) })
  })()
  return starting
}

export type View = Readonly<{ width?: number; height?: number; colorScheme?: 'light' | 'dark' }>

/** What a page did that no page of the console may do. */
export type Misdeeds = readonly string[]

export type WatchedPage = Readonly<{
  page: Page
  /** Errors of the console, faults of scripts, breaches of the policy, dialogs, and requests elsewhere, so far. */
  misdeeds: Misdeeds
  close(): Promise<void>
}>

/** A page of a new context, watched from its start. `origin`: all that it may call. */
export async function openPage(
  origin: string,
  { width = 1280, height = 800, colorScheme = 'light' }: View = {},
): Promise<WatchedPage> {
  const browser = await startBrowser()
  const options: BrowserContextOptions = {
    viewport: { width, height },
    colorScheme,
    baseURL: origin,
    reducedMotion: 'reduce',
  }
  const context = await browser.newContext(options)
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin })
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  const misdeeds: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' && !isAnswerOfTheApi(message.text())) misdeeds.push(`console: ${message.text()}`)
  })
  page.on('pageerror', (error) => misdeeds.push(`script: ${error.stack ?? error.message}`))
  page.on('dialog', (dialog) => {
    misdeeds.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (url.origin !== origin && url.protocol !== 'blob:') misdeeds.push(`request elsewhere: ${request.url()}`)
  })
  return { page, misdeeds, close: () => context.close() }
}

/** Chromium reports each answer with a status of 400 or more as an error; these are the API's way to say no. */
const isAnswerOfTheApi = (text: string): boolean =>
  text.startsWith('Failed to load resource: the server responded with a status of')

/** Signs in on the page that asks for a key. */
export async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key or access token').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('navigation', { name: 'Pages', exact: true }).waitFor()
}

/** Resolves when the page has a title and nothing on it loads. */
export async function loaded(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor()
  await until(
    () => page.locator('[data-loading]').count(),
    (count) => count === 0,
  )
}
